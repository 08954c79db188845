import { csvField } from "../base/csv";
import { formatBytes, formatDuration, formatDurationBeside, formatNumber, formatShare } from "../base/format";
import type { Part } from "../source/protocol";
import { linesOf } from "../source/rows";
import type { AnswerColumn, AnswerTable, TableCell } from "../source/tables";

/** A row's facts that its cells are formatted by. */
export interface RowScale {
  /** The trace of the row, whose clock its times use. */
  readonly part: Part | undefined;
  /** The longest duration in the row, whose unit the others share. */
  readonly longest: number;
}

/** The longest duration in a row. */
export const longestOf = (cells: readonly TableCell[], columns: readonly AnswerColumn[]): number =>
  Math.max(0, ...columns.map((column, at) => (isDuration(column) ? Math.abs(Number(cells[at] ?? 0)) : 0)));

const isDuration = ({ unit, role }: AnswerColumn): boolean => unit === "ns" && role !== "time";

/** Formats a cell for readers. */
export function readCell(cell: TableCell, column: AnswerColumn, { part, longest }: RowScale): string {
  if (cell === null) return "";
  if (typeof cell === "boolean") return cell ? "yes" : "no";
  if (column.role === "time" && part) return formatDuration(Number(BigInt(cell) - BigInt(part.origin_ns)));
  const value = Number(cell);
  if (column.unit === "ns")
    return column.name.startsWith("change") ? formatChange(value, longest) : formatDurationBeside(value, longest);
  if (column.unit === "bytes") return formatBytes(value);
  if (typeof cell === "string") return WORDS.has(column.name) ? cell.replaceAll("_", " ") : cell;
  if (column.name.endsWith("share")) return formatShare(value, 1);
  return formatNumber(value);
}

// Columns whose texts are words of ours, such as `exposed_communication`, not names of the trace.
const WORDS: ReadonlySet<string> = new Set(["part", "cause", "bound", "category", "class", "kind", "reason", "status"]);

const formatChange = (ns: number, longest: number): string =>
  ns === 0 ? "0" : `${ns < 0 ? "−" : "+"}${formatDurationBeside(Math.abs(ns), longest)}`;

export const isNumeric = (table: AnswerTable, column: number): boolean =>
  table.columns[column]?.unit !== null || table.rows.some((row) => typeof row[column] === "number");

/** Formats the rows as text, a line per row. */
export const written = (table: AnswerTable, between: "\t" | ","): string =>
  `${linesOf(table, between === "," ? csvField : flat, between).join("\n")}\n`;

const flat = (text: string): string => text.replace(/[\t\n\r]+/g, " ");
