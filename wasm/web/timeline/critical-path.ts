import { Cell } from "../base/cell";
import type { Span } from "../base/time";
import type { PathSteps } from "../source/protocol";
import { type Source, settle } from "../source/source";
import { type Quanta, quantaOf } from "./quanta";

/** The longest chain of what waited for what, while it is wanted. */
export class CriticalPath {
  readonly isOn = new Cell(false);
  /** What is known of it; null until it is. */
  readonly steps = new Cell<PathSteps | null>(null);
  readonly #source: Source;
  readonly #failed: (error: unknown) => void;
  #known: PathSteps | null = null;
  /** Whether it leads through all traces, as ranks of a job. */
  readonly #throughJob: boolean;
  #asked = "";

  constructor(source: Source, throughJob: boolean, failed: (error: unknown) => void) {
    this.#source = source;
    this.#throughJob = throughJob;
    this.#failed = failed;
  }

  /** Forgets where it was drawn. */
  renew(): void {
    this.#asked = "";
    this.#known = null;
  }

  /** What to draw now: the right steps, or the last ones while those are on their way. */
  stepsIn(window: Span, width: number): PathSteps | null {
    const wanted = quantaOf(window, width);
    if (this.#asked !== wanted.key) this.#ask(wanted);
    return this.#known;
  }

  get #through(): { readonly through_job?: true } {
    return this.#throughJob ? { through_job: true } : {};
  }

  #ask({ key, span, pixels }: Quanta): void {
    this.#asked = key;
    settle(
      () => this.#source.query("path", { start: span.start, end: span.end, pixels, ...this.#through }),
      (steps) => {
        if (key !== this.#asked) return;
        this.#known = steps;
        // Whoever draws must not be told while drawing.
        queueMicrotask(() => this.steps.set(steps));
      },
      this.#failed,
    );
  }
}
