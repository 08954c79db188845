import { Cell } from "../base/cell";
import type { Span } from "../base/time";
import type { AnalysisName, Summary } from "../source/protocol";
import { type Source, settle } from "../source/source";

/** The stretch of time that the reader marked, and what happened in it. */
export class Range {
  readonly span = new Cell<Span | null>(null);
  readonly summary = new Cell<Summary | null>(null);
  /** Which of several traces the summary is of. */
  readonly part = new Cell(0);
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

  /** Sums up another one of several traces. */
  choosePart(part: number): void {
    if (part === this.part.value) return;
    this.part.set(part);
    this.summary.set(null);
    this.sumUp();
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
