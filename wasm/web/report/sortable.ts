import { sortKey } from "./sort-key";

/** Makes the header cells of a static table sort its rows. */
export function makeSortable(table: HTMLTableElement): void {
  const [body] = table.tBodies;
  const header = table.tHead?.rows[0];
  // A chart row belongs to the row after it, so such tables keep their order.
  if (!body || !header || body.rows.length < 2 || body.querySelector(".ks-line")) return;
  for (const [column, cell] of [...header.cells].entries()) {
    if (!cell.textContent?.trim()) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "ks-sort";
    button.append(...cell.childNodes);
    button.addEventListener("click", () => {
      sortBy(header, body, column);
      admitSome(table);
    });
    cell.append(button);
  }
}

/** Says that only the rows on the page are sorted, not the whole table. */
function admitSome(table: HTMLTableElement): void {
  const count = table.caption?.querySelector("small");
  const [which] = /^(?:the )?(?:top|first) .*\d$/.exec(count?.textContent ?? "") ?? [];
  if (count && which) count.textContent = `${which}, sorted among themselves`;
}

function sortBy(header: HTMLTableRowElement, body: HTMLTableSectionElement, column: number): void {
  const cell = header.cells[column];
  if (!cell) return;
  // The first click sorts numbers from the largest, names from A.
  const first = cell.classList.contains("ks-number") ? "descending" : "ascending";
  const other = first === "descending" ? "ascending" : "descending";
  const order = cell.getAttribute("aria-sort") === first ? other : first;
  for (const each of header.cells) each.removeAttribute("aria-sort");
  cell.setAttribute("aria-sort", order);
  const sign = order === "ascending" ? 1 : -1;
  const keyed = [...body.rows].map((row) => ({ row, key: sortKey(row.cells[column]?.textContent ?? "") }));
  keyed.sort((a, b) => sign * compare(a.key, b.key));
  body.append(...keyed.map(({ row }) => row));
}

function compare(a: number | string, b: number | string): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "string" && typeof b === "string") return a.localeCompare(b);
  return typeof a === "number" ? -1 : 1;
}
