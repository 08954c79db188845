import { csvField } from "../base/csv";
import { linesOf } from "../source/rows";
import type { AnswerTable } from "../source/tables";

/** Formats a table as CSV with a header line. */
export const toCsv = (table: AnswerTable): string =>
  linesOf(table, csvField, ",")
    .map((line) => `${line}\r\n`)
    .join("");

/** Formats a table as a JSON list, one object per line. */
export function toJson({ columns, rows }: AnswerTable): string {
  const object = (cells: readonly unknown[]) =>
    JSON.stringify(Object.fromEntries(columns.map(({ name }, at) => [name, cells[at] ?? null])));
  return rows.length > 0 ? `[\n${rows.map(object).join(",\n")}\n]\n` : "[]\n";
}
