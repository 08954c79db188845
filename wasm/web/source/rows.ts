import type { AnswerTable, Cell } from "./protocol";

/** A `limit` that leaves no row out. */
export const ALL_ROWS = 10_000_000;

/** The names of the columns, then the rows: exact values, a line each. */
export function linesOf({ columns, rows }: AnswerTable, field: (text: string) => string, between: string): string[] {
  const line = (cells: readonly Cell[]) => cells.map((cell) => field(cell === null ? "" : String(cell))).join(between);
  return [columns.map(({ name }) => name), ...rows].map(line);
}
