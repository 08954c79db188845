import { shortName } from "../base/names";
import { type ColorBy, colorCode, KINDS } from "../base/palette";
import type { Tiles } from "../source/protocol";

/** The tiles of one track, made ready to be drawn again and again. */
export class Sheet {
  readonly track: number;
  readonly tiles: Tiles;
  readonly length: number;
  /** What a bar says, parallel to `tiles.names`. */
  readonly labels: readonly string[];
  readonly #colorings = new Map<ColorBy, Coloring>();

  constructor(track: number, tiles: Tiles) {
    this.track = track;
    this.tiles = tiles;
    this.length = tiles.start.length;
    this.labels = tiles.names.map(shortName);
  }

  colored(by: ColorBy, kinds: readonly string[]): Coloring {
    const known = this.#colorings.get(by);
    if (known) return known;
    const coloring = colorTiles(this.tiles, by, kinds);
    this.#colorings.set(by, coloring);
    return coloring;
  }
}

/** A colour for each tile, and the tiles sorted by it: a canvas is slow at changing colours. */
export interface Coloring {
  readonly codes: Uint8Array;
  readonly order: Uint32Array;
}

function colorTiles(tiles: Tiles, by: ColorBy, kinds: readonly string[]): Coloring {
  const known = new Map<number, number>();
  const codes = new Uint8Array(tiles.start.length);
  for (let i = 0; i < codes.length; i++) {
    const kind = tiles.kind[i] as number;
    const name = tiles.name[i] as number;
    const key = name * 256 + kind;
    const code = known.get(key) ?? colorCode(kinds[kind] ?? "other", tiles.names[name] ?? "", by);
    known.set(key, code);
    codes[i] = code;
  }
  return { codes, order: sortedBy(codes) };
}

/** Counting sort: the indices of `codes`, in ascending order of code. */
function sortedBy(codes: Uint8Array): Uint32Array {
  const starts = new Uint32Array(257);
  for (const code of codes) (starts[code + 1] as number)++;
  for (let i = 1; i < starts.length; i++) starts[i] = (starts[i] as number) + (starts[i - 1] as number);
  const order = new Uint32Array(codes.length);
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] as number;
    const at = starts[code] as number;
    order[at] = i;
    starts[code] = at + 1;
  }
  return order;
}

export const kindName = (kinds: readonly string[], code: number): string =>
  kinds[code] ?? KINDS[KINDS.length - 1] ?? "other";
