import { Cell } from "../base/cell";
import type { Gap } from "../source/protocol";
import { type Source, settle } from "../source/source";

/** The idle time of a stream that the reader selected. */
export class Gaps {
  readonly current = new Cell<Gap | null>(null);
  readonly #source: Source;
  readonly #failed: (error: unknown) => void;
  #wanted = 0;

  constructor(source: Source, failed: (error: unknown) => void) {
    this.#source = source;
    this.#failed = failed;
  }

  /**
   * Requests the idle time of a track at `time`. Does nothing where an event ran, or on a host
   * thread.
   */
  ask(track: number, time: number, then: (gap: Gap) => void): void {
    this.#wanted += 1;
    const wanted = this.#wanted;
    settle(
      () => this.#source.query("gap", { track, time }),
      ({ gap }) => {
        if (wanted !== this.#wanted || !gap) return;
        this.current.set(gap);
        then(gap);
      },
      this.#failed,
    );
  }

  clear(): void {
    this.#wanted += 1;
    this.current.set(null);
  }
}
