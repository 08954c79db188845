import { Cell } from "../base/cell";
import type { Span } from "../base/time";
import type { Summary } from "../source/protocol";
import { type Source, settle } from "../source/source";
import type { AnalysisName, Order } from "../source/tables";

/** The table to show of an answer. `order` is for the core, which has all rows. */
export interface TableQuery {
  /** Index of one of its tables. */
  readonly table: number;
  readonly order: Order | null;
  readonly limit: number;
}

export const FIRST_TABLE: TableQuery = { table: 0, order: null, limit: 50 };

/** The analysis to show for the range. */
export interface RangeQuery extends TableQuery {
  /** Name of an analysis; null for the summary. */
  readonly analysis: string | null;
}

const ASKING: RangeQuery = { ...FIRST_TABLE, analysis: null };

/** The marked range and its summary. */
export class Range {
  readonly span = new Cell<Span | null>(null);
  readonly summary = new Cell<Summary | null>(null);
  /** The trace that the summary is about. */
  readonly part = new Cell(0);
  /** The trace that analyses are about; null for all. */
  readonly asked = new Cell<number | null>(null);
  readonly asking = new Cell<RangeQuery>(ASKING);
  /** Analyses that the reader can choose. */
  readonly analyses = new Cell<readonly AnalysisName[]>([]);
  readonly #source: Source;
  readonly #failed: (error: unknown) => void;

  constructor(source: Source, failed: (error: unknown) => void) {
    this.#source = source;
    this.#failed = failed;
  }

  clear(): void {
    this.span.set(null);
    this.summary.set(null);
  }

  /** Marks `span`. The summary follows when the pointer rests. */
  mark(span: Span): void {
    this.span.set(span);
    this.summary.set(null);
  }

  /** Marks and sums up `span`, unless it is marked already. */
  sumUpOnce(span: Span): void {
    const before = this.span.value;
    if (before?.start === span.start && before.end === span.end) return;
    this.mark(span);
    this.sumUp();
  }

  /** Chooses the trace to summarize and analyze; null analyzes all. */
  choosePart(part: number | null): void {
    this.asked.set(part);
    if (part === null || part === this.part.value) return;
    this.part.set(part);
    this.summary.set(null);
    this.sumUp();
  }

  ask(change: Partial<RangeQuery>): void {
    this.asking.set({ ...this.asking.value, ...change });
  }

  /** Chooses an analysis or another of its tables, without an order. */
  askFor(analysis: string | null, table = 0): void {
    this.asking.set({ ...ASKING, analysis, table });
  }

  listAnalyses(): void {
    if (this.analyses.value.length > 0) return;
    settle(
      () => this.#source.query("analyses", {}),
      ({ analyses }) => this.analyses.set(analyses),
      this.#failed,
    );
  }

  sumUp(): void {
    const [span, part] = [this.span.value, this.part.value];
    if (!span) return;
    settle(
      () => this.#source.query("summary", { start: span.start, end: span.end, part, findings: false }),
      (summary) => {
        if (this.span.value === span && this.part.value === part) this.summary.set(summary);
      },
      this.#failed,
    );
  }
}
