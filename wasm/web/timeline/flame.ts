import { Cell } from "../base/cell";
import { formatBytes, formatCount, formatDuration, formatPlural, formatShare } from "../base/format";
import { lengthOf, padded, type Span, span } from "../base/time";
import type { FlameOptions } from "../source/flame";
import { type Source, settle } from "../source/source";
import { FlameTree, NONE, WHOLE } from "./flame-tree";
import { Viewport } from "./viewport";

/** Distance from one level to the next, in CSS pixels. */
export const LEVEL_HEIGHT = 19;

/** A frame of a smaller share of the window is hardly seen. */
const NARROW = 0.01;

/** The part of a trace that a flame graph is about. */
export interface FlamePart {
  readonly part?: number;
  readonly start?: number;
  readonly end?: number;
  readonly iteration?: number;
  readonly phase?: string;
  /** The part to compare with: frames then have their change since that one. */
  readonly against?: number;
}

/** A flame graph as a host asks for it. */
export interface OpenFlame {
  readonly about: FlamePart;
  readonly options: FlameOptions;
}

/** A search in the names of frames. */
export interface FlameSearch {
  readonly text: string;
  /** 1 for each name that matches. */
  readonly hits: Uint8Array;
  /** Rows of frames whose name matches. */
  readonly rows: readonly number[];
  /** Weight of all matching frames, nested ones once. */
  readonly weight: number;
}

/** The id of a frame without an event. */
export const NO_EVENT = 0xffffffff;

/** The flame graph, while it is shown. */
export class Flame {
  readonly isOpen = new Cell(false);
  readonly options = new Cell<FlameOptions>({});
  readonly about = new Cell<FlamePart>({});
  /** Null until the first answer arrives. */
  readonly tree = new Cell<FlameTree | null>(null);
  readonly viewport = new Viewport(WHOLE);
  /** Rows of frames; `NONE` for none. */
  readonly chosen = new Cell(NONE);
  readonly hovered = new Cell(NONE);
  readonly search = new Cell<FlameSearch | null>(null);
  readonly #source: Source;
  readonly #failed: (error: unknown) => void;
  readonly #say: (text: string) => void;
  #asked = 0;
  /** The part as it was opened; empty where it cannot be shown again as it was left. */
  #opened = "";

  constructor(source: Source, failed: (error: unknown) => void, say: (text: string) => void) {
    this.#source = source;
    this.#failed = failed;
    this.#say = say;
  }

  /**
   * Opens the flame graph of a part. Without `options`, the part that was last opened is as it was
   * left.
   */
  open(about: FlamePart, options?: FlameOptions): void {
    const opened = JSON.stringify(about);
    if (!options && opened === this.#opened && this.tree.value) {
      this.isOpen.set(true);
      return;
    }
    this.#opened = opened;
    this.about.set(about);
    this.options.update((before) => ({ ...before, focus: undefined, ...options }));
    this.isOpen.set(true);
    this.#ask();
  }

  close(): void {
    this.hovered.set(NONE);
    this.isOpen.set(false);
  }

  choose(change: FlameOptions): void {
    this.options.update((before) => ({ ...before, ...change }));
    this.#ask();
  }

  show(about: FlamePart): void {
    this.about.set(about);
    this.#ask();
  }

  /** Asks again, as after a change of the screen's options. */
  renew(): void {
    if (this.isOpen.value) this.#ask();
    else this.#opened = "";
  }

  #ask(): void {
    const asked = ++this.#asked;
    const options = Object.fromEntries(Object.entries(this.options.value).filter(([, value]) => value !== undefined));
    settle(
      () => this.#source.query("flame", { ...this.about.value, trimmed: true, options }),
      (frames) => {
        if (asked !== this.#asked) return;
        this.hovered.set(NONE);
        this.chosen.set(NONE);
        this.viewport.show(this.viewport.bounds);
        this.viewport.scrollTo(0);
        this.tree.set(new FlameTree(frames));
        this.find(this.search.value?.text ?? "");
        this.#say(frames.reason ?? `Flame graph: ${formatPlural(frames.depth.length, "frame")}`);
      },
      this.#failed,
    );
  }

  /** Highlights the frames whose name contains `text`. */
  find(text: string): void {
    const tree = this.tree.value;
    this.search.set(text && tree ? { text, ...tree.find(text) } : null);
  }

  /** Chooses a frame, and says what it is. */
  select(row: number): void {
    this.chosen.set(row);
    const tree = this.tree.value;
    if (!tree || row === NONE) return;
    const { weight, total } = tree.frames;
    const own = weight[row] as number;
    const count = tree.frames.count?.[row];
    const calls = count === undefined ? "" : `, ${formatPlural(count, "call")}`;
    this.#say(`${tree.label(row)}, ${tree.kind(row)}, ${this.words(own)}, ${formatShare(own, total)}${calls}`);
  }

  /** Chooses a frame, and shows it: alone it may be too narrow, or beside the window. */
  reveal(row: number): void {
    this.select(row);
    const { viewport } = this;
    const frame = this.spanOf(row);
    if (!frame) return;
    const { start, end } = viewport.target;
    const visible = Math.min(frame.end, end) - Math.max(frame.start, start);
    if (visible < (end - start) * NARROW) viewport.show(padded(frame, lengthOf(frame)), true);
    viewport.scrollTo(((this.tree.value?.frames.depth[row] ?? 0) - 4) * LEVEL_HEIGHT, true);
  }

  /** Goes to the hit after the chosen frame, or to the one before. */
  nextHit(by: 1 | -1): void {
    const rows = this.search.value?.rows ?? [];
    const chosen = this.chosen.value;
    const next = by > 0 ? (rows.find((row) => row > chosen) ?? rows[0]) : rows.findLast((row) => row < chosen);
    this.reveal(next ?? rows.at(-1) ?? chosen);
  }

  /** Fills the width with a frame; with everything for `NONE`. */
  zoomTo(row: number): void {
    this.viewport.show(this.spanOf(row) ?? this.viewport.bounds, true);
  }

  spanOf(row: number): Span | null {
    const tree = this.tree.value;
    return tree && row !== NONE ? span(tree.start(row), tree.end(row)) : null;
  }

  /** Frames around all that is visible, the outermost first. */
  get widest(): readonly number[] {
    const tree = this.tree.value;
    const { start, end } = this.viewport.target;
    const path: number[] = [];
    for (let level = 0; tree && level < tree.levels.length; level++) {
      const row = tree.at(level, (start + end) / 2);
      if (row === NONE || tree.start(row) > start + 1 || tree.end(row) < end - 1) break;
      path.push(row);
    }
    return path;
  }

  /** A weight with its unit. */
  words(weight: number): string {
    const unit = this.tree.value?.frames.unit;
    if (unit === "ns") return formatDuration(weight);
    if (unit === "bytes") return formatBytes(weight);
    return unit === "flops" ? flopsText(weight) : formatCount(weight);
  }
}

const FLOPS = ["", "k", "M", "G", "T", "P"] as const;

function flopsText(flops: number): string {
  const power = Math.min(FLOPS.length - 1, Math.floor(Math.log10(Math.max(1, flops)) / 3));
  return `${Number((flops / 1000 ** power).toPrecision(4))} ${FLOPS[power]}FLOP`;
}
