import { Lru } from "../base/lru";
import { common, lengthOf, type Span, span, uncovered } from "../base/time";
import type { Owner, Tiles } from "../source/protocol";
import { Dropped, type Source, settle } from "../source/source";
import { Sheet } from "./sheet";

// The columns of a chunk. Chunks lie at multiples of their length, so that moves and zooms come back to the same ones.
const COLUMNS = 256;
// Chunks that are asked for together: of a source in this page one, so that a frame may end after it; of one far away many.
const MOST_NEAR = 1;
const MOST_FAR = 16;
// Rectangles that are kept, of about 40 bytes each.
const LIMIT = 1_500_000;
// What an entry costs beside its rectangles.
const ENTRY = 50;
// What is asked for in one frame must not make it late; the rest comes with the next ones.
const BUDGET_MS = 2;
// Of it, for what is not on the screen yet.
const AHEAD_MS = 1;

/** The tiles of a track for a stretch of time. Events may reach beyond it: their other parts are in the pieces beside. */
export interface Piece {
  readonly span: Span;
  readonly sheet: Sheet;
}

/** A stretch of which nothing is known. */
export interface Hole {
  readonly span: Span;
  /** For how many milliseconds an answer has been waited for. */
  readonly waited: number;
}

interface Entry extends Piece {
  readonly weight: number;
}

/** What of a window is there, and what is not. */
interface Stock {
  readonly pieces: readonly Piece[];
  readonly missing: readonly number[];
}

/** The power of two nanoseconds that a column of tiles lasts: the next finer one than a pixel. */
export const levelOf = (window: Span, width: number): number =>
  Math.floor(Math.log2(lengthOf(window) / Math.max(1, width)));

/** Keeps what was asked about tracks; moves and small zooms find it here. */
export class TileCache {
  readonly #source: Source;
  readonly #arrived: () => void;
  readonly #failed: (error: unknown) => void;
  readonly #now: () => number;
  readonly #entries = new Lru<string, Entry>(LIMIT, ({ weight }) => weight);
  readonly #latest = new Map<number, readonly Piece[]>();
  /** The longest stretch that was ever known as a whole: who zooms out sees it until there is something finer. */
  readonly #longest = new Map<number, readonly Piece[]>();
  /** What is on its way, and since when; what failed never comes. */
  readonly #asked = new Map<string, number>();
  readonly #holes = new Map<number, readonly { readonly span: Span; readonly key: string }[]>();
  #spent = 0;
  #window: Span | null = null;
  /** Whether it is that of the frame before. */
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

  /** From now on tiles tell what they are for. */
  tellOwner(owner: Owner | null): void {
    this.#owner = owner;
  }

  /** What is there, and what is on its way, is of a picture that is over. */
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

  /** What to draw of `track` now: the right tiles, or older ones where those are on their way; in the order of time. */
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
    // Who scrolls the tracks needs what comes from above or below, and nothing from beside.
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

  /** What is blank in the picture of `track` that `pieces` has given last, and will not stay so. */
  holes(track: number): readonly Hole[] {
    const now = this.#now();
    return (this.#holes.get(track) ?? []).flatMap(({ span, key }) => {
      const waited = now - (this.#asked.get(key) ?? now);
      return waited < 0 ? [] : [{ span, waited }];
    });
  }

  /** The older tiles where new ones are missing: those of the last picture, then coarser ones. */
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
      const entry = { span: asked, sheet: new Sheet(track, tiles), weight };
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

/** Neighbours together, at most `most` of them. */
function runsOf(chunks: readonly number[], most: number): readonly (readonly number[])[] {
  const runs: number[][] = [];
  for (const chunk of chunks) {
    const run = runs.at(-1);
    if (run && run.at(-1) === chunk - 1 && run.length < most) run.push(chunk);
    else runs.push([chunk]);
  }
  return runs;
}
