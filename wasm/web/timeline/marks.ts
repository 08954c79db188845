import { firstReached } from "../base/partition";
import { lengthOf, type Span } from "../base/time";
import type { EventId, Marks } from "../source/protocol";
import { type Source, settle } from "../source/source";
import { type Quanta, quantaOf } from "./quanta";

// Finding marks among a million events takes longer than a frame, so requests wait for a resting
// picture.
const REST_MS = 80;

/** Marks grouped by lane. */
export class MarksByLane {
  readonly marks: Marks;
  #ids: ReadonlySet<EventId> | null = null;
  readonly #lanes = new Map<number, number[][]>();

  constructor(marks: Marks) {
    this.marks = marks;
    for (let i = 0; i < marks.track.length; i++)
      this.#laneOf(marks.track[i] as number, marks.lane[i] as number).push(i);
  }

  /** Ids of the marked events. */
  get ids(): ReadonlySet<EventId> {
    this.#ids ??= new Set(this.marks.id);
    return this.#ids;
  }

  #laneOf(track: number, lane: number): number[] {
    const lanes = this.#lanes.get(track) ?? [];
    this.#lanes.set(track, lanes);
    while (lanes.length <= lane) lanes.push([]);
    return lanes[lane] as number[];
  }

  /**
   * Calls `each` with start and end of the marks on a lane that lie in `window`, in the order of
   * time.
   */
  within(track: number, lane: number, window: Span, each: (start: number, end: number) => void): void {
    const rows = this.#lanes.get(track)?.[lane] ?? [];
    const { start, dur } = this.marks;
    const endOf = (row: number) => (start[row] as number) + (dur[row] as number);
    const first = firstReached(0, rows.length, (at) => endOf(rows[at] as number) >= window.start);
    for (let at = first; at < rows.length; at++) {
      const row = rows[at] as number;
      if ((start[row] as number) > window.end) return;
      each(start[row] as number, endOf(row));
    }
  }
}

/** Positions of hits that are too many to list, at the resolution of the screen. */
export class FarMarks {
  readonly #source: Source;
  readonly #text: string;
  readonly #arrived: () => void;
  readonly #failed: (error: unknown) => void;
  #known: MarksByLane | null = null;
  #asked = "";
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(source: Source, text: string, arrived: () => void, failed: (error: unknown) => void) {
    this.#source = source;
    this.#text = text;
    this.#arrived = arrived;
    this.#failed = failed;
  }

  /** The latest answer. */
  get known(): MarksByLane | null {
    return this.#known;
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  /** The exact marks, or the previous ones while those are loading. */
  in(window: Span, width: number): MarksByLane | null {
    clearTimeout(this.#timer);
    if (lengthOf(window) === 0) return this.#known;
    // A mark is two pixels wide.
    const wanted = quantaOf(window, Math.max(1, width / 2));
    if (this.#asked === "") this.#ask(wanted);
    else if (this.#asked !== wanted.key) this.#timer = setTimeout(() => this.#ask(wanted), REST_MS);
    return this.#known;
  }

  #ask({ key, span, pixels }: Quanta): void {
    const isFirst = this.#asked === "";
    this.#asked = key;
    let waiting = !isFirst;
    settle(
      () => this.#source.query("marks", { text: this.#text, start: span.start, end: span.end, pixels }),
      (marks) => {
        if (this.#asked !== key) return;
        this.#known = new MarksByLane(marks);
        if (waiting) this.#arrived();
      },
      this.#failed,
    );
    waiting = true;
  }
}
