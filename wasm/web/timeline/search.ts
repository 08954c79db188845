import { Cell } from "../base/cell";
import { firstReached } from "../base/partition";
import type { Span, Time } from "../base/time";
import type { EventId, Hits } from "../source/protocol";
import { type Source, settle } from "../source/source";
import { FarMarks, MarksByLane } from "./marks";
import type { Sheet } from "./sheet";

// So many hits are known at once; the others are asked for when they are gone to.
const LIMIT = 20_000;

export interface Found {
  readonly text: string;
  /** All, or some of them. */
  readonly hits: Hits;
  /** Place among all of the hit that was gone to; −1 before the first. */
  readonly at: number;
}

/** Where the hits of a text are drawn: in the picture, and in the strip of the whole trace. */
interface Places {
  /** Of all hits, where they are known. */
  readonly all: MarksByLane | null;
  readonly near: FarMarks;
  readonly whole: FarMarks;
}

/** What the reader looks for, and where it is. */
export class Search {
  readonly found = new Cell<Found | null>(null);
  /** Raised when more is known of where hits lie. */
  readonly placed = new Cell(0);
  readonly #source: Source;
  readonly #failed: (error: unknown) => void;
  #text = "";
  /** Steps from a standstill that wait for where they begin. */
  #waiting = 0;
  #places: Places | null = null;
  #marks = new WeakMap<Sheet, Uint8Array>();

  constructor(source: Source, failed: (error: unknown) => void) {
    this.#source = source;
    this.#failed = failed;
  }

  clear(): void {
    this.#forget();
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

  /** For each tile of a sheet whether it is a hit; null while nothing is looked for, or nothing known of the hits. */
  hitsIn(sheet: Sheet): Uint8Array | null {
    const name = this.found.value?.hits.name;
    if (name === undefined) return null;
    const known = this.#marks.get(sheet);
    if (known) return known;
    const marks = name === null ? this.#amongMarks(sheet) : named(sheet, name);
    if (marks) this.#marks.set(sheet, marks);
    return marks;
  }

  /** What names do not tell the ids of hits do. */
  #amongMarks(sheet: Sheet): Uint8Array | null {
    const ids = (this.#places?.all ?? this.#places?.near.known)?.ids;
    return ids ? Uint8Array.from(sheet.tiles.id, (id) => (ids.has(id) ? 1 : 0)) : null;
  }

  /** Where hits lie in a window of the picture, `width` pixels wide; null while nothing is known. */
  marksIn(window: Span, width: number): MarksByLane | null {
    const places = this.found.value && this.#places;
    return places && (places.all ?? places.near.in(window, width));
  }

  /** The same of the whole trace, for the strip that shows it. */
  marksOf(bounds: Span, width: number): MarksByLane | null {
    const places = this.found.value && this.#places;
    return places && (places.all ?? places.whole.in(bounds, 2 * width));
  }

  /** Goes `by` hits on, around the end; from a standstill to the first one at or after `time`. Calls `then` with it once it is known. */
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

  /** Goes to the hit at a place among all, counted around the end. */
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
      // Who has gone on by now has asked for what lies there.
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

function named({ tiles }: Sheet, text: string): Uint8Array {
  const isHit = tiles.names.map((name) => name.toLowerCase().includes(text));
  return Uint8Array.from(tiles.name, (name) => (isHit[name] ? 1 : 0));
}

/** The place that so many steps lead to from before the hit at `first`. */
const entry = (first: number, steps: number): number => first + steps - (steps > 0 ? 1 : 0);

/** How many hits begin before `time`. */
const firstFrom = ({ start }: Hits, time: Time): number =>
  firstReached(0, start.length, (at) => (start[at] as number) >= time);
