import { csvField } from "../base/csv";
import { formatBytes, formatDuration, formatNumber, formatShare } from "../base/format";
import type { AnswerColumn, AnswerTable, Cell, Part } from "../source/protocol";
import { linesOf } from "../source/rows";

/** A cell as people read it. `part` is the one of its row, by whose clock its times are. */
export function readCell(cell: Cell, column: AnswerColumn, part: Part | undefined): string {
  if (cell === null) return "";
  if (typeof cell === "boolean") return cell ? "yes" : "no";
  if (column.role === "time" && part) return formatDuration(Number(BigInt(cell) - BigInt(part.origin_ns)));
  const value = Number(cell);
  if (column.unit === "ns") return formatDuration(value);
  if (column.unit === "bytes") return formatBytes(value);
  if (typeof cell === "string") return cell;
  if (column.name.endsWith("share")) return formatShare(value, 1);
  return formatNumber(value);
}

export const isNumeric = (table: AnswerTable, column: number): boolean =>
  table.columns[column]?.unit !== null || table.rows.some((row) => typeof row[column] === "number");

/** The rows as text. */
export const written = (table: AnswerTable, between: "\t" | ","): string =>
  `${linesOf(table, between === "," ? csvField : flat, between).join("\n")}\n`;

const flat = (text: string): string => text.replace(/[\t\n\r]+/g, " ");
