import { download } from "../base/download";
import { ALL_ROWS } from "../source/rows";
import type { Source } from "../source/source";
import type { AnswerTable } from "../source/tables";
import { toCsv, toJson } from "./table-file";

/** Adds buttons beside a table's title, or below a chart, that save all rows. */
export function addTableTools(figure: HTMLElement, source: Source, fail: (error: unknown) => void): void {
  const caption = figure.querySelector("caption, figcaption");
  if (!caption) return;
  const tools = document.createElement("span");
  tools.className = "ks-tools";
  for (const [ending, write, type] of [
    ["csv", toCsv, "text/csv"],
    ["json", toJson, "application/json"],
  ] as const) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = ending.toUpperCase();
    button.title = `Save all rows and columns as ${button.textContent}`;
    button.addEventListener("click", () => {
      wholeTable(figure, source)
        .then((table) => download(`${table.name}.${ending}`, write(table), type))
        .catch(fail);
    });
    tools.append(button);
  }
  caption.append(tools);
}

/** Requests all rows: the page shows the first ones. */
async function wholeTable(figure: HTMLElement, source: Source): Promise<AnswerTable> {
  const { analysis = "", table: name = "", options = "{}" } = figure.dataset;
  const asked = { options: JSON.parse(options), limit: ALL_ROWS };
  // A comparison of two traces is no analysis of one.
  const answer =
    analysis === "comparison"
      ? await source.query("compare", asked)
      : await source.query("analyze", { ...asked, name: analysis, trimmed: true });
  const table = answer.tables.find((other) => other.name === name);
  if (!table) throw new Error(`expected a table ${name} of ${analysis}, found none`);
  return table;
}
