import { Cell } from "../base/cell";
import type { EventId, Hits } from "../source/protocol";
import { type Source, settle } from "../source/source";
import type { Sheet } from "./sheet";

// More marks than this cannot be told apart on a screen; the count still says how many there are.
const LIMIT = 20_000;

export interface Found {
  readonly text: string;
  readonly hits: Hits;
  readonly ids: ReadonlySet<EventId>;
  /** The rows of `hits` that lie on a track. */
  readonly byTrack: ReadonlyMap<number, readonly number[]>;
  /** Index of the hit that was gone to; −1 before the first. */
  readonly at: number;
}

/** What the reader looks for, and where it is. */
export class Search {
  readonly found = new Cell<Found | null>(null);
  readonly #source: Source;
  readonly #failed: (error: unknown) => void;
  #text = "";
  #marks = new WeakMap<Sheet, Uint8Array>();

  constructor(source: Source, failed: (error: unknown) => void) {
    this.#source = source;
    this.#failed = failed;
  }

  clear(): void {
    this.#text = "";
    this.found.set(null);
  }

  /** Looks again for the same. */
  renew(): void {
    if (this.#text) this.ask(this.#text);
  }

  /** Calls `then` when the hits are there, unless other ones are wanted by then. */
  ask(text: string, then?: (hits: Hits) => void): void {
    this.#text = text;
    if (text === "") {
      this.found.set(null);
      return;
    }
    settle(
      () => this.#source.query("search", { text, limit: LIMIT }),
      (hits) => {
        if (this.#text !== text) return;
        this.#show(text, hits);
        then?.(hits);
      },
      this.#failed,
    );
  }

  /** For each tile of a sheet whether it is a hit; null while nothing is looked for. */
  hitsIn(sheet: Sheet): Uint8Array | null {
    const ids = this.found.value?.ids;
    if (!ids) return null;
    const known = this.#marks.get(sheet);
    if (known) return known;
    const marks = Uint8Array.from(sheet.tiles.id, (id) => (ids.has(id) ? 1 : 0));
    this.#marks.set(sheet, marks);
    return marks;
  }

  #show(text: string, hits: Hits): void {
    this.#marks = new WeakMap();
    this.found.set({ text, hits, ids: new Set(hits.id), byTrack: rowsByTrack(hits), at: -1 });
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
  // Of more hits than are listed those that come later are not known: the last known one is the nearest.
  if (by > 0) return first < 0 && hits.count > hits.id.length ? hits.id.length - 1 : Math.max(0, first);
  return (first <= 0 ? hits.id.length : first) - 1;
}

function rowsByTrack({ track }: Hits): ReadonlyMap<number, readonly number[]> {
  const rows = new Map<number, number[]>();
  for (const [row, of] of track.entries()) {
    const known = rows.get(of);
    if (known) known.push(row);
    else rows.set(of, [row]);
  }
  return rows;
}
