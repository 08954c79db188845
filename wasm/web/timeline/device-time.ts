import { Cell } from "../base/cell";
import { ALL_ROWS } from "../source/rows";
import { type Source, settle } from "../source/source";
import type { AnalysisAnswer, TableCell } from "../source/tables";

/** A share of a trace's device time. */
export interface TimeShare {
  readonly name: string;
  readonly kind: "kernel" | "communication" | "copy" | "other" | "idle" | "unknown";
  readonly share: number;
}

const COLUMNS: readonly (readonly [string, string, TimeShare["kind"]])[] = [
  ["compute_ns", "computation", "kernel"],
  ["exposed_communication_ns", "exposed communication", "communication"],
  ["exposed_copy_ns", "exposed copies", "copy"],
  ["exposed_other_ns", "other work", "other"],
  ["idle_ns", "idle", "idle"],
  ["unknown_ns", "unknown", "unknown"],
];

/** How the devices of each trace spent their time, for screens with several traces. */
export class DeviceTime {
  /** By part; traces without device work are missing. */
  readonly shares = new Cell<ReadonlyMap<number, readonly TimeShare[]>>(new Map());
  readonly #source: Source;
  readonly #failed: (error: unknown) => void;

  constructor(source: Source, failed: (error: unknown) => void) {
    this.#source = source;
    this.#failed = failed;
  }

  ask(): void {
    const options = { per: "selection" };
    settle(
      () => this.#source.query("analyze", { name: "breakdown", trimmed: true, limit: ALL_ROWS, options }),
      (answer) => this.shares.set(sharesOf(answer)),
      this.#failed,
    );
  }
}

function sharesOf({ tables: [table] }: AnalysisAnswer): ReadonlyMap<number, readonly TimeShare[]> {
  if (!table) return new Map();
  const rowsOf = new Map<number, (readonly TableCell[])[]>();
  for (const [at, row] of table.rows.entries()) {
    const part = table.parts?.[at] ?? 0;
    const rows = rowsOf.get(part);
    if (rows) rows.push(row);
    else rowsOf.set(part, [row]);
  }
  const sum = (rows: readonly (readonly TableCell[])[], name: string) => {
    const column = table.columns.findIndex((one) => one.name === name);
    return rows.reduce((total, row) => total + Number(row[column] ?? 0), 0);
  };
  const of = (rows: readonly (readonly TableCell[])[]) => {
    const span = Math.max(1, sum(rows, "span_ns"));
    const shares = COLUMNS.map(([column, name, kind]) => ({ name, kind, share: sum(rows, column) / span }));
    return shares.filter(({ share }) => share > 0);
  };
  return new Map([...rowsOf].map(([part, rows]) => [part, of(rows)]));
}
