import { Lru } from "../base/lru";
import { lengthOf, type Span, span } from "../base/time";
import type { Tiles } from "../source/protocol";
import { type Source, settle } from "../source/source";
import { Sheet } from "./sheet";

// Windows start and end at multiples of this many columns, so that small moves ask for the same tiles again.
const QUANTUM = 256;
// Rectangles that are kept, of about 40 bytes each.
const LIMIT = 1_500_000;
// What an entry costs beside its rectangles.
const ENTRY = 50;
// A new resolution needs new tiles for every track; those that would make the frame late come with the next ones.
const BUDGET_MS = 6;

interface Entry {
  readonly span: Span;
  readonly sheet: Sheet;
}

/** A window at a resolution: what is asked for, and what it is kept under. */
export interface TileWindow {
  readonly level: number;
  readonly span: Span;
  readonly pixels: number;
}

/** The window of whole quanta around `window` and half a screen on each side, at the next finer power of two per pixel. */
export function tileWindow(window: Span, width: number): TileWindow {
  const level = Math.floor(Math.log2(lengthOf(window) / Math.max(1, width)));
  const quantum = QUANTUM * 2 ** level;
  const margin = lengthOf(window) / 2;
  const first = Math.floor((window.start - margin) / quantum);
  const last = Math.ceil((window.end + margin) / quantum);
  return { level, span: span(first * quantum, last * quantum), pixels: (last - first) * QUANTUM };
}

/** Keeps what was asked about tracks; panning and small zooms find it here. */
export class TileCache {
  readonly #source: Source;
  readonly #arrived: () => void;
  readonly #failed: (error: unknown) => void;
  readonly #entries = new Lru<string, Entry>(LIMIT, ({ sheet }) => sheet.length + ENTRY);
  readonly #latest = new Map<number, Entry>();
  readonly #asked = new Set<string>();
  #spent = 0;

  constructor(source: Source, arrived: () => void, failed: (error: unknown) => void) {
    this.#source = source;
    this.#arrived = arrived;
    this.#failed = failed;
  }

  beginFrame(): void {
    this.#spent = 0;
  }

  /** What to draw of `track` now: the right tiles, or the last ones while those are on their way. */
  sheet(track: number, window: Span, width: number): Sheet | null {
    const wanted = tileWindow(window, width);
    const key = `${track}:${wanted.level}`;
    const entry = this.#entries.get(key);
    if (entry && entry.span.start <= window.start && entry.span.end >= window.end) return entry.sheet;
    const latest = this.#latest.get(track);
    if (latest && this.#spent > BUDGET_MS) this.#arrived();
    else this.#ask(key, track, wanted);
    return (this.#entries.get(key) ?? this.#latest.get(track))?.sheet ?? null;
  }

  #ask(key: string, track: number, wanted: TileWindow): void {
    if (this.#asked.has(key)) return;
    this.#asked.add(key);
    const begun = performance.now();
    const { start, end } = wanted.span;
    let waiting = false;
    const use = (tiles: Tiles) => {
      this.#asked.delete(key);
      const entry = { span: wanted.span, sheet: new Sheet(track, tiles) };
      this.#entries.set(key, entry);
      this.#latest.set(track, entry);
      if (waiting) this.#arrived();
    };
    settle(
      () => this.#source.query("tiles", { tracks: [track], start, end, pixels: wanted.pixels }),
      use,
      this.#failed,
    );
    waiting = true;
    this.#spent += performance.now() - begun;
  }
}
