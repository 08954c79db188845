import { type ColorBy, colorCode, type Kind, ownerCode } from "../base/palette";
import { firstReached } from "../base/partition";
import type { Tiles } from "../source/protocol";
import { ownerOf } from "./tile-owner";

/** Tiles of one track, prepared for drawing. They are sorted by lane, then by time. */
export class TrackTiles {
  readonly track: number;
  readonly tiles: Tiles;
  readonly length: number;
  readonly #colorings = new Map<ColorBy, Uint8Array>();
  /** Index of the first tile of each lane. */
  readonly #lanes: readonly number[];

  constructor(track: number, tiles: Tiles) {
    this.track = track;
    this.tiles = tiles;
    this.length = tiles.start.length;
    this.#lanes = lanesOf(tiles);
  }

  /** Text for the bar of a tile. */
  label(index: number): string {
    const name = this.tiles.name[index] as number;
    return this.tiles.labels[name] ?? this.tiles.names[name] ?? "";
  }

  /** Index of the first tile of a lane that ends at `time` or later. */
  firstIn(lane: number, time: number): number {
    const { start, dur } = this.tiles;
    const isReached = (at: number) => (start[at] as number) + (dur[at] as number) >= time;
    return firstReached(this.#lanes[lane] ?? this.length, this.laneEnd(lane), isReached);
  }

  /** Index after the last tile of a lane. */
  laneEnd(lane: number): number {
    return this.#lanes[lane + 1] ?? this.length;
  }

  /** A colour code per tile. */
  colored(by: ColorBy, kinds: readonly Kind[]): Uint8Array {
    const known = this.#colorings.get(by);
    if (known) return known;
    const coloring = ownerOf(by) ? colorOwners(this.tiles) : colorTiles(this.tiles, by, kinds);
    this.#colorings.set(by, coloring);
    return coloring;
  }
}

function lanesOf({ lane }: Tiles): readonly number[] {
  const firsts: number[] = [];
  for (let i = 0; i < lane.length; i++) {
    while (firsts.length <= (lane[i] as number)) firsts.push(i);
  }
  return firsts;
}

/** Colours by owner; grey without one. */
function colorOwners({ owners, owner, start }: Tiles): Uint8Array {
  const known = (owners ?? []).map(ownerCode);
  const codes = new Uint8Array(start.length);
  for (let i = 0; i < codes.length; i++) codes[i] = known[owner?.[i] ?? 0] ?? ownerCode("");
  return codes;
}

function colorTiles(tiles: Tiles, by: ColorBy, kinds: readonly Kind[]): Uint8Array {
  const known = new Map<number, number>();
  const codes = new Uint8Array(tiles.start.length);
  for (let i = 0; i < codes.length; i++) {
    const kind = tiles.kind[i] as number;
    const name = tiles.name[i] as number;
    const key = name * 256 + kind;
    const code = known.get(key) ?? colorCode(kindName(kinds, kind), tiles.names[name] ?? "", by);
    known.set(key, code);
    codes[i] = code;
  }
  return codes;
}

export const kindName = (kinds: readonly Kind[], code: number): Kind => kinds[code] ?? "other";
