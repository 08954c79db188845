import type { AnswerTable } from "../source/protocol";

/** A table as CSV, under the names of its columns. */
export function toCsv({ columns, rows }: AnswerTable): string {
  const lines = [columns.map(({ name }) => name), ...rows];
  return lines.map((cells) => `${cells.map(csvCell).join(",")}\r\n`).join("");
}

function csvCell(cell: unknown): string {
  const text = cell === null ? "" : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The same as a JSON list, an object a line. */
export function toJson({ columns, rows }: AnswerTable): string {
  const object = (cells: readonly unknown[]) =>
    JSON.stringify(Object.fromEntries(columns.map(({ name }, at) => [name, cells[at] ?? null])));
  return rows.length > 0 ? `[\n${rows.map(object).join(",\n")}\n]\n` : "[]\n";
}
