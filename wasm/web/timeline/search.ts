import { Cell } from "../base/cell";
import type { EventId, Hits } from "../source/protocol";
import { type Source, settle } from "../source/source";

// More marks than this cannot be told apart on a screen; the count still says how many there are.
const LIMIT = 20_000;

export interface Found {
  readonly text: string;
  readonly hits: Hits;
  readonly ids: ReadonlySet<EventId>;
  /** Index of the hit that was gone to; −1 before the first. */
  readonly at: number;
}

/** What the reader looks for, and where it is. */
export class Search {
  readonly found = new Cell<Found | null>(null);
  readonly #source: Source;
  readonly #failed: (error: unknown) => void;
  #text = "";

  constructor(source: Source, failed: (error: unknown) => void) {
    this.#source = source;
    this.#failed = failed;
  }

  clear(): void {
    this.#text = "";
    this.found.set(null);
  }

  ask(text: string): void {
    this.#text = text;
    if (text === "") {
      this.found.set(null);
      return;
    }
    settle(
      () => this.#source.query("search", { text, limit: LIMIT }),
      (hits) => {
        if (this.#text === text) this.found.set({ text, hits, ids: new Set(hits.id), at: -1 });
      },
      this.#failed,
    );
  }

  /** Goes `by` hits on, around the end; from a standstill to the first one at or after `time`. */
  step(by: 1 | -1, time: number): EventId | null {
    const found = this.found.value;
    const length = found?.hits.id.length ?? 0;
    if (!found || length === 0) return null;
    const at = found.at < 0 ? entry(found.hits, by, time) : (found.at + by + length) % length;
    this.found.set({ ...found, at });
    return found.hits.id[at] ?? null;
  }
}

function entry(hits: Hits, by: 1 | -1, time: number): number {
  const first = hits.start.findIndex((start) => start >= time);
  if (by > 0) return Math.max(0, first);
  return (first <= 0 ? hits.id.length : first) - 1;
}
