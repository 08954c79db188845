import { Cell } from "../base/cell";
import type { Span } from "../base/time";
import type { PathSteps } from "../source/protocol";
import { type Source, settle } from "../source/source";
import { type Quanta, quantaOf } from "./quanta";

/** The critical path, while it is shown. */
export class CriticalPath {
  readonly isOn = new Cell(false);
  /** Null until the answer arrives. */
  readonly steps = new Cell<PathSteps | null>(null);
  readonly #source: Source;
  readonly #failed: (error: unknown) => void;
  #known: PathSteps | null = null;
  /** Whether the path goes through all ranks of a job. */
  readonly #throughJob: boolean;
  #asked = "";

  constructor(source: Source, throughJob: boolean, failed: (error: unknown) => void) {
    this.#source = source;
    this.#throughJob = throughJob;
    this.#failed = failed;
  }

  /** Discards the drawn path. */
  renew(): void {
    this.#asked = "";
    this.#known = null;
  }

  /** The steps to draw: exact ones, or the previous ones while those are loading. */
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
        // Listeners must not run while the picture is drawn.
        queueMicrotask(() => this.steps.set(steps));
      },
      this.#failed,
    );
  }
}
