import type { AnswerTable, TableCell } from "./tables";

/** A `limit` above any number of rows. */
export const ALL_ROWS = 10_000_000;

/** Formats a table as lines: the names of the columns, then the rows with exact values. */
export function linesOf({ columns, rows }: AnswerTable, field: (text: string) => string, between: string): string[] {
  const line = (cells: readonly TableCell[]) =>
    cells.map((cell) => field(cell === null ? "" : String(cell))).join(between);
  return [columns.map(({ name }) => name), ...rows].map(line);
}
