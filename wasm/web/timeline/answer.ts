import { csvField } from "../base/csv";
import { formatBytes, formatDuration, formatNumber, formatShare } from "../base/format";
import type { Part } from "../source/protocol";
import { linesOf } from "../source/rows";
import type { AnswerColumn, AnswerTable, TableCell } from "../source/tables";

/** Formats a cell for readers. `part` is the trace of its row, whose clock its times use. */
export function readCell(cell: TableCell, column: AnswerColumn, part: Part | undefined): string {
  if (cell === null) return "";
  if (typeof cell === "boolean") return cell ? "yes" : "no";
  if (column.role === "time" && part) return formatDuration(Number(BigInt(cell) - BigInt(part.origin_ns)));
  const value = Number(cell);
  if (column.unit === "ns") return column.name.startsWith("change") ? formatChange(value) : formatDuration(value);
  if (column.unit === "bytes") return formatBytes(value);
  if (typeof cell === "string") return WORDS.has(column.name) ? cell.replaceAll("_", " ") : cell;
  if (column.name.endsWith("share")) return formatShare(value, 1);
  return formatNumber(value);
}

// Columns whose texts are words of ours, such as `exposed_communication`, not names of the trace.
const WORDS: ReadonlySet<string> = new Set(["part", "cause", "bound", "category", "class", "kind", "reason", "status"]);

const formatChange = (ns: number): string => (ns === 0 ? "0" : `${ns < 0 ? "−" : "+"}${formatDuration(Math.abs(ns))}`);

export const isNumeric = (table: AnswerTable, column: number): boolean =>
  table.columns[column]?.unit !== null || table.rows.some((row) => typeof row[column] === "number");

/** Formats the rows as text, a line per row. */
export const written = (table: AnswerTable, between: "\t" | ","): string =>
  `${linesOf(table, between === "," ? csvField : flat, between).join("\n")}\n`;

const flat = (text: string): string => text.replace(/[\t\n\r]+/g, " ");
