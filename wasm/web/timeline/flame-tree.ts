import type { FlameFrames } from "../source/flame";

/** Length of the horizontal axis: frames are placed on it by their share of everything. */
export const WHOLE = 1e9;

/** Index of no frame. */
export const NONE = -1;

/** Frames by level, with the frame around each. Rows are in the order of the core's walk. */
export class FlameTree {
  readonly frames: FlameFrames;
  /** Rows of each level, from left to right. */
  readonly levels: readonly Uint32Array[];
  /** The row of the frame around each row; `NONE` for the outermost. */
  readonly parents: Int32Array;
  readonly #scale: number;

  constructor(frames: FlameFrames) {
    this.frames = frames;
    this.#scale = WHOLE / Math.max(1, frames.total);
    const { depth } = frames;
    this.parents = new Int32Array(depth.length);
    const levels: number[][] = [];
    // The last row of each level so far.
    const open: number[] = [];
    for (let row = 0; row < depth.length; row++) {
      const level = depth[row] as number;
      levels[level] ??= [];
      levels[level]?.push(row);
      this.parents[row] = open[level - 1] ?? NONE;
      open[level] = row;
    }
    this.levels = levels.map((rows) => Uint32Array.from(rows));
  }

  start(row: number): number {
    return (this.frames.start[row] as number) * this.#scale;
  }

  end(row: number): number {
    return this.start(row) + (this.frames.weight[row] as number) * this.#scale;
  }

  name(row: number): string {
    return this.frames.names[this.frames.name[row] as number] ?? "";
  }

  label(row: number): string {
    const name = this.frames.name[row] as number;
    return this.frames.labels[name] ?? this.frames.names[name] ?? "";
  }

  kind(row: number): string {
    return this.frames.kinds[this.frames.kind[row] as number] ?? "";
  }

  /** Index in a level of the first frame, from `from` on, that ends after `place`. */
  firstAfter(level: number, place: number, from = 0): number {
    const rows = this.levels[level] ?? [];
    let [low, high] = [from, rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.end(rows[middle] as number) > place) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** The frame of a level at a place; `NONE` without one. */
  at(level: number, place: number): number {
    const row = this.levels[level]?.[this.firstAfter(level, place)];
    return row !== undefined && this.start(row) <= place ? row : NONE;
  }

  /** The frame beside `row` on its level, or `row` at the end. */
  beside(row: number, by: 1 | -1): number {
    const rows = this.levels[this.frames.depth[row] as number] ?? [];
    const at = this.firstAfter(this.frames.depth[row] as number, this.start(row));
    return rows[at + by] ?? row;
  }

  /** The widest frame right inside of `row`, or `row` without one. */
  inner(row: number): number {
    const level = (this.frames.depth[row] as number) + 1;
    const rows = this.levels[level] ?? [];
    let widest = NONE;
    for (let at = this.firstAfter(level, this.start(row)); at < rows.length; at++) {
      const next = rows[at] as number;
      if (this.parents[next] !== row) break;
      if (widest === NONE || (this.frames.weight[next] as number) > (this.frames.weight[widest] as number))
        widest = next;
    }
    return widest === NONE ? row : widest;
  }

  /** Names that contain a text, frames of such names, and their weight, nested ones once. */
  find(text: string): { readonly hits: Uint8Array; readonly rows: readonly number[]; readonly weight: number } {
    const wanted = text.toLowerCase();
    const { names, labels, name, weight } = this.frames;
    const hits = Uint8Array.from(names, (full, at) =>
      Number(full.toLowerCase().includes(wanted) || (labels[at] ?? "").toLowerCase().includes(wanted)),
    );
    const isInside = new Uint8Array(name.length);
    const rows: number[] = [];
    let sum = 0;
    for (let row = 0; row < name.length; row++) {
      const around = this.parents[row] as number;
      const isHit = hits[name[row] as number] === 1;
      if (isHit) rows.push(row);
      if (around !== NONE && isInside[around] === 1) isInside[row] = 1;
      else if (isHit) {
        isInside[row] = 1;
        sum += weight[row] as number;
      }
    }
    return { hits, rows, weight: sum };
  }
}
