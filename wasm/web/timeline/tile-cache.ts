import { Lru } from "../base/lru";
import { common, lengthOf, type Span, span, uncovered } from "../base/time";
import type { Owner, Tiles } from "../source/protocol";
import { Dropped, type Source, settle } from "../source/source";
import { TrackTiles } from "./track-tiles";

// Columns per chunk. Chunks lie at multiples of their length, so that moves and zooms reuse them.
const COLUMNS = 256;
// Chunks per request. In this page a frame may end after each; a kernel gets many at once.
const MOST_NEAR = 1;
const MOST_FAR = 16;
// Rectangles to keep, of about 40 bytes each.
const LIMIT = 1_500_000;
// Weight of an entry besides its rectangles.
const ENTRY = 50;
// Time for requests in one frame; the rest follow in later frames.
const BUDGET_MS = 2;
// The part of it for tiles off the screen.
const AHEAD_MS = 1;

/**
 * Tiles of a track for a range. Events may extend beyond it: adjacent pieces hold their other
 * parts.
 */
export interface Piece {
  readonly span: Span;
  readonly trackTiles: TrackTiles;
}

/** A range without tiles. */
export interface Hole {
  readonly span: Span;
  /** Milliseconds since the request. */
  readonly waited: number;
}

interface CachedPiece extends Piece {
  readonly weight: number;
}

/** Loaded and missing chunks of a window. */
interface Stock {
  readonly pieces: readonly Piece[];
  readonly missing: readonly number[];
}

/** Exponent of the nanoseconds per column, a power of two: the next finer one than a pixel. */
export const levelOf = (window: Span, width: number): number =>
  Math.floor(Math.log2(lengthOf(window) / Math.max(1, width)));

/** Caches tiles, so that moves and small zooms need no request. */
export class TileCache {
  readonly #source: Source;
  readonly #arrived: () => void;
  readonly #failed: (error: unknown) => void;
  readonly #now: () => number;
  readonly #entries = new Lru<string, CachedPiece>(LIMIT, ({ weight }) => weight);
  readonly #latest = new Map<number, readonly Piece[]>();
  /** The longest range that was ever complete: shown on zooming out until finer tiles arrive. */
  readonly #longest = new Map<number, readonly Piece[]>();
  /** Requests in flight, with their start. Failed ones stay. */
  readonly #asked = new Map<string, number>();
  readonly #holes = new Map<number, readonly { readonly span: Span; readonly key: string }[]>();
  #spent = 0;
  #window: Span | null = null;
  /** Whether the window is the same as in the frame before. */
  #isSameWindow = false;
  #isFar = false;
  #owner: Owner | null = null;
  #generation = 0;

  constructor(
    source: Source,
    arrived: () => void,
    failed: (error: unknown) => void,
    now: () => number = () => performance.now(),
  ) {
    this.#source = source;
    this.#now = now;
    this.#arrived = arrived;
    this.#failed = failed;
  }

  /** Requests owners with tiles from now on. */
  tellOwner(owner: Owner | null): void {
    this.#owner = owner;
  }

  /** Discards all tiles and pending answers. */
  forget(): void {
    this.#generation++;
    this.#latest.clear();
    this.#longest.clear();
    this.#holes.clear();
    this.#entries.clear();
  }

  beginFrame(window: Span): void {
    this.#isSameWindow = window.start === this.#window?.start && window.end === this.#window.end;
    this.#window = window;
    this.#spent = 0;
  }

  /**
   * The tiles to draw for `track`, in the order of time. Where exact tiles are loading, older ones.
   */
  pieces(track: number, window: Span, width: number): readonly Piece[] {
    const level = levelOf(window, width);
    const length = COLUMNS * 2 ** level;
    const first = Math.floor(window.start / length);
    const last = Math.ceil(window.end / length) - 1;
    let stock = this.#stock(track, level, first, last);
    if (stock.missing.length > 0) {
      this.#askFor(track, level, stock.missing);
      stock = this.#stock(track, level, first, last);
    }
    if (stock.missing.length > 0) return this.#patched(track, stock, level);
    this.#holes.delete(track);
    this.#latest.set(track, stock.pieces);
    if (extentOf(stock.pieces) >= extentOf(this.#longest.get(track))) this.#longest.set(track, stock.pieces);
    // Scrolling tracks needs tiles above or below, none beside the window.
    if (!this.#isSameWindow && this.#spent < AHEAD_MS) this.#askAhead(track, level, first, last);
    return stock.pieces;
  }

  #stock(track: number, level: number, first: number, last: number): Stock {
    const pieces: Piece[] = [];
    const missing: number[] = [];
    for (let chunk = first; chunk <= last; chunk++) {
      const entry = this.#entries.get(this.#keyOf(track, level, chunk));
      if (!entry) missing.push(chunk);
      else if (pieces.at(-1) !== entry) pieces.push(entry);
    }
    return { pieces, missing };
  }

  /** Blank ranges of `track` in the latest picture whose tiles are loading. */
  holes(track: number): readonly Hole[] {
    const now = this.#now();
    return (this.#holes.get(track) ?? []).flatMap(({ span, key }) => {
      const waited = now - (this.#asked.get(key) ?? now);
      return waited < 0 ? [] : [{ span, waited }];
    });
  }

  /** Fills gaps with older tiles: those of the last picture, then coarser ones. */
  #patched(track: number, { pieces, missing }: Stock, level: number): readonly Piece[] {
    const length = COLUMNS * 2 ** level;
    const older = [this.#latest.get(track) ?? [], this.#longest.get(track) ?? []];
    const all = [...pieces];
    const holes = missing.flatMap((chunk) => {
      const key = this.#keyOf(track, level, chunk);
      let blank: readonly Span[] = [span(chunk * length, (chunk + 1) * length)];
      for (const known of older) {
        for (const hole of blank) all.push(...known.map((piece) => ({ ...piece, span: common(piece.span, hole) })));
        blank = blank.flatMap((hole) =>
          uncovered(
            hole,
            known.map((piece) => piece.span),
          ),
        );
      }
      return blank.map((span) => ({ span, key }));
    });
    this.#holes.set(track, holes);
    return all.filter((piece) => lengthOf(piece.span) > 0).sort((a, b) => a.span.start - b.span.start);
  }

  #askFor(track: number, level: number, missing: readonly number[]): void {
    const wanted = missing.filter((chunk) => !this.#asked.has(this.#keyOf(track, level, chunk)));
    for (const run of runsOf(wanted, this.#isFar ? MOST_FAR : MOST_NEAR)) {
      if (this.#spent > BUDGET_MS) {
        this.#arrived();
        return;
      }
      this.#ask(track, level, run);
    }
  }

  #askAhead(track: number, level: number, first: number, last: number): void {
    for (const chunk of [first - 1, last + 1]) {
      const key = this.#keyOf(track, level, chunk);
      if (!this.#entries.get(key) && !this.#asked.has(key)) this.#ask(track, level, [chunk]);
    }
  }

  #keyOf(track: number, level: number, chunk: number): string {
    return `${this.#generation}:${track}:${level}:${chunk}:${this.#owner ?? ""}`;
  }

  #ask(track: number, level: number, chunks: readonly number[]): void {
    const keys = chunks.map((chunk) => this.#keyOf(track, level, chunk));
    const begun = this.#now();
    for (const key of keys) this.#asked.set(key, begun);
    const length = COLUMNS * 2 ** level;
    const asked = span((chunks[0] as number) * length, ((chunks.at(-1) as number) + 1) * length);
    let waiting = false;
    let isHere = false;
    const use = (tiles: Tiles) => {
      const weight = tiles.start.length / keys.length + ENTRY;
      const entry = { span: asked, trackTiles: new TrackTiles(track, tiles), weight };
      for (const key of keys) {
        this.#asked.delete(key);
        this.#entries.set(key, entry);
      }
      if (waiting) this.#arrived();
      isHere = true;
    };
    const fail = (error: unknown) => {
      if (!(error instanceof Dropped)) {
        for (const key of keys) this.#asked.set(key, Number.POSITIVE_INFINITY);
        return this.#failed(error);
      }
      for (const key of keys) this.#asked.delete(key);
      this.#arrived();
    };
    const { start, end } = asked;
    const pixels = COLUMNS * chunks.length;
    const by = this.#owner && { by: this.#owner };
    settle(() => this.#source.query("tiles", { tracks: [track], start, end, pixels, ...by }), use, fail);
    waiting = true;
    this.#isFar = !isHere;
    this.#spent += this.#now() - begun;
  }
}

const extentOf = (pieces: readonly Piece[] = []): number =>
  (pieces.at(-1)?.span.end ?? 0) - (pieces[0]?.span.start ?? 0);

/** Groups adjacent chunks, at most `most` each. */
function runsOf(chunks: readonly number[], most: number): readonly (readonly number[])[] {
  const runs: number[][] = [];
  for (const chunk of chunks) {
    const run = runs.at(-1);
    if (run && run.at(-1) === chunk - 1 && run.length < most) run.push(chunk);
    else runs.push([chunk]);
  }
  return runs;
}
