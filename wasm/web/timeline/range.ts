import { Cell } from "../base/cell";
import type { Span } from "../base/time";
import type { AnalysisName, Order, Summary } from "../source/protocol";
import { type Source, settle } from "../source/source";

/** What the reader wants to know of the range; an `order` of rows is the core's, who has all of them. */
export interface Asking {
  /** The name of an analysis; null: what happened, in short. */
  readonly analysis: string | null;
  /** The place of one of its tables. */
  readonly table: number;
  readonly order: Order | null;
  readonly limit: number;
}

const ASKING: Asking = { analysis: null, table: 0, order: null, limit: 50 };

/** The stretch of time that the reader marked, and what happened in it. */
export class Range {
  readonly span = new Cell<Span | null>(null);
  readonly summary = new Cell<Summary | null>(null);
  /** Which of several traces the summary is of. */
  readonly part = new Cell(0);
  /** Which of them analyses are of; null: all. */
  readonly asked = new Cell<number | null>(null);
  readonly asking = new Cell<Asking>(ASKING);
  /** What may be asked about it. */
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

  /** Shows `span` as marked; `sumUp` follows when the hand is still. */
  mark(span: Span): void {
    this.span.set(span);
    this.summary.set(null);
  }

  /** Another one of several traces is summed up and analysed; null: all are analysed. */
  choosePart(part: number | null): void {
    this.asked.set(part);
    if (part === null || part === this.part.value) return;
    this.part.set(part);
    this.summary.set(null);
    this.sumUp();
  }

  ask(change: Partial<Asking>): void {
    this.asking.set({ ...this.asking.value, ...change });
  }

  /** Another analysis, or another of its tables: its rows as they come. */
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
