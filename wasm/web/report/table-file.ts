import { csvField } from "../base/csv";
import type { AnswerTable } from "../source/protocol";

/** A table as CSV, under the names of its columns. */
export function toCsv({ columns, rows }: AnswerTable): string {
  const lines = [columns.map(({ name }) => name), ...rows];
  const field = (cell: unknown) => csvField(cell === null ? "" : String(cell));
  return lines.map((cells) => `${cells.map(field).join(",")}\r\n`).join("");
}

/** The same as a JSON list, an object a line. */
export function toJson({ columns, rows }: AnswerTable): string {
  const object = (cells: readonly unknown[]) =>
    JSON.stringify(Object.fromEntries(columns.map(({ name }, at) => [name, cells[at] ?? null])));
  return rows.length > 0 ? `[\n${rows.map(object).join(",\n")}\n]\n` : "[]\n";
}
