import type { Labels } from "../base/labels";

export type TableCell = string | number | boolean | null;

export interface AnswerColumn {
  readonly name: string;
  readonly unit: "ns" | "bytes" | "GB/s" | null;
  /**
   * `event` for event ids, `time` for times on the clock of the row's part, null for other values.
   */
  readonly role: "event" | "time" | null;
}

export interface AnswerTable {
  readonly name: string;
  readonly doc: string;
  readonly num_rows: number;
  readonly columns: readonly AnswerColumn[];
  readonly rows: readonly (readonly TableCell[])[];
  /** The part of each row; null where all rows are of the only part. */
  readonly parts: readonly (number | null)[] | null;
  /** Short labels of the texts in the rows. */
  readonly labels: Labels;
}

/** The result of an analysis. */
export interface AnalysisAnswer {
  readonly name: string;
  readonly doc: string;
  readonly reason: string | null;
  readonly tables: readonly AnswerTable[];
}

/** Sorts the rows of a table by a column. */
export interface Order {
  readonly table: string;
  readonly column: string;
  readonly descends: boolean;
}

/** An analysis that `analyze` accepts. */
export interface AnalysisName {
  readonly name: string;
  readonly doc: string;
}

/** The hits of a search: of all parts, their number, sum and maximum, and tables of them. */
export interface HitsAnswer {
  readonly count: number;
  readonly total_ns: number;
  /** Null without hits. */
  readonly mean_ns: number | null;
  readonly max_ns: number | null;
  readonly tables: readonly AnswerTable[];
}
