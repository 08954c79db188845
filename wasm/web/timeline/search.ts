import { Cell } from "../base/cell";
import { firstReached } from "../base/partition";
import type { Span, Time } from "../base/time";
import type { EventId, Hits } from "../source/protocol";
import { type Source, settle } from "../source/source";
import { FarMarks, MarksByLane } from "./marks";
import type { TrackTiles } from "./track-tiles";

// Hits per request. Further hits are requested when the reader goes to them.
const LIMIT = 20_000;

export interface FoundHits {
  readonly text: string;
  /** All hits, or some of them. */
  readonly hits: Hits;
  /** Index of the current hit among all; −1 before the first. */
  readonly at: number;
}

/** Positions of hits: in the picture and in the minimap. */
interface HitPlaces {
  /** All hits, where their number is small. */
  readonly all: MarksByLane | null;
  readonly near: FarMarks;
  readonly whole: FarMarks;
}

/** The search text and its hits. */
export class Search {
  readonly found = new Cell<FoundHits | null>(null);
  /** Counts up when positions of hits arrive. */
  readonly placed = new Cell(0);
  readonly #source: Source;
  readonly #failed: (error: unknown) => void;
  #text = "";
  /** Steps that wait for the first hit after the reader's position. */
  #waiting = 0;
  #places: HitPlaces | null = null;
  #marks = new WeakMap<TrackTiles, Uint8Array>();

  constructor(source: Source, failed: (error: unknown) => void) {
    this.#source = source;
    this.#failed = failed;
  }

  clear(): void {
    this.#forget();
    this.#text = "";
    this.found.set(null);
  }

  /** Repeats the search. */
  renew(): void {
    if (this.#text) this.ask(this.#text);
  }

  /** Requests hits for `text`. Calls `then` when they arrive, unless the text has changed. */
  ask(text: string, then?: (hits: Hits) => void): void {
    this.#text = text;
    this.#waiting = 0;
    if (text === "") {
      this.clear();
      return;
    }
    this.#query(text, {}, (hits) => {
      this.#show(text, hits);
      then?.(hits);
    });
  }

  /** A flag per tile: 1 for a hit. Null without a search, or before hits are known. */
  hitsIn(trackTiles: TrackTiles): Uint8Array | null {
    const name = this.found.value?.hits.name;
    if (name === undefined) return null;
    const known = this.#marks.get(trackTiles);
    if (known) return known;
    const marks = name === null ? this.#amongMarks(trackTiles) : named(trackTiles, name);
    if (marks) this.#marks.set(trackTiles, marks);
    return marks;
  }

  /** Finds hits by id where the search is not by name alone. */
  #amongMarks(trackTiles: TrackTiles): Uint8Array | null {
    const ids = (this.#places?.all ?? this.#places?.near.known)?.ids;
    return ids ? Uint8Array.from(trackTiles.tiles.id, (id) => (ids.has(id) ? 1 : 0)) : null;
  }

  /** Positions of hits in a window of the picture, `width` pixels wide; null while unknown. */
  marksIn(window: Span, width: number): MarksByLane | null {
    const places = this.found.value && this.#places;
    return places && (places.all ?? places.near.in(window, width));
  }

  /** Positions of hits in the whole trace, for the minimap. */
  marksOf(bounds: Span, width: number): MarksByLane | null {
    const places = this.found.value && this.#places;
    return places && (places.all ?? places.whole.in(bounds, 2 * width));
  }

  /**
   * Moves `by` hits, wrapping around. Without a current hit, goes to the first at or after `time`.
   * Calls `then` once the hit is known.
   */
  step(by: 1 | -1, time: Time, then: (id: EventId) => void): void {
    const found = this.found.value;
    if (!found || found.hits.count === 0) return;
    const { hits, text, at } = found;
    if (at >= 0) this.#go(at + by, then);
    else if (hits.id.length === hits.count) this.#go(entry(firstFrom(hits, time), by), then);
    else if (this.#waiting !== 0) this.#waiting += by;
    else {
      this.#waiting = by;
      this.#query(text, { start: time }, (page) => {
        const steps = this.#waiting;
        this.#waiting = 0;
        this.found.set({ text, hits: page, at });
        this.#go(entry(page.first, steps), then);
      });
    }
  }

  /** Goes to the hit with this index among all, wrapping around. */
  #go(place: number, then: (id: EventId) => void): void {
    const found = this.found.value;
    if (!found) return;
    const { text, hits } = found;
    const at = ((place % hits.count) + hits.count) % hits.count;
    this.found.set({ text, hits, at });
    const arrive = (page: Hits): boolean => {
      const id = page.id[at - page.first];
      if (id !== undefined) then(id);
      return id !== undefined;
    };
    if (arrive(hits)) return;
    this.#query(text, { from: Math.max(0, at - LIMIT / 2) }, (page) => {
      // The reader has moved on and requested other hits.
      if (this.found.value?.at !== at) return;
      this.found.set({ text, hits: page, at });
      arrive(page);
    });
  }

  #query(text: string, from: { from?: number; start?: Time }, use: (hits: Hits) => void): void {
    settle(
      () => this.#source.query("search", { text, limit: LIMIT, ...from }),
      (hits) => {
        if (this.#text === text) use(hits);
      },
      (error) => {
        this.#waiting = 0;
        this.#failed(error);
      },
    );
  }

  #forget(): void {
    this.#places?.near.close();
    this.#places?.whole.close();
    this.#places = null;
  }

  #show(text: string, hits: Hits): void {
    this.#forget();
    this.#marks = new WeakMap();
    const arrived = () => {
      this.#marks = new WeakMap();
      this.placed.update((n) => n + 1);
    };
    const far = () => new FarMarks(this.#source, text, arrived, this.#failed);
    const all = hits.id.length === hits.count ? new MarksByLane(hits) : null;
    this.#places = { all, near: far(), whole: far() };
    this.found.set({ text, hits, at: -1 });
  }
}

function named({ tiles }: TrackTiles, text: string): Uint8Array {
  const isHit = tiles.names.map((name) => name.toLowerCase().includes(text));
  return Uint8Array.from(tiles.name, (name) => (isHit[name] ? 1 : 0));
}

/** The index after `steps` steps from just before the hit with index `first`. */
const entry = (first: number, steps: number): number => first + steps - (steps > 0 ? 1 : 0);

/** Number of hits that begin before `time`. */
const firstFrom = ({ start }: Hits, time: Time): number =>
  firstReached(0, start.length, (at) => (start[at] as number) >= time);
