import { Cell } from "../base/cell";
import type { Kind } from "../base/palette";
import type { Change, Overview } from "../source/protocol";
import { type Source, settle } from "../source/source";
import { kindName, type TrackTiles } from "./track-tiles";

export const FALLS = 1;
export const RISES = 2;

/** The traces of ranks, without those of other tools beside them. */
const members = ({ parts }: Overview) => parts.filter(({ companion }) => companion === undefined);

/** Whether the screen compares two traces of one rank. Two ranks of a job are no comparison. */
export function isComparison(overview: Overview): boolean {
  const [before, after, more] = members(overview);
  return before !== undefined && after !== undefined && more === undefined && before.rank === after.rank;
}

/** Whether the traces on the screen are ranks of one job. */
export const isJob = (overview: Overview): boolean => members(overview).length > 1 && !isComparison(overview);

/** Operators and kernels whose time differs between two compared traces. */
export class Changes {
  readonly byName = new Cell<ReadonlyMap<string, Change>>(new Map());
  readonly #source: Source;
  readonly #failed: (error: unknown) => void;
  #asked = false;
  #marks = new WeakMap<TrackTiles, Uint8Array>();

  constructor(source: Source, failed: (error: unknown) => void) {
    this.#source = source;
    this.#failed = failed;
  }

  ask(): void {
    if (this.#asked) return;
    this.#asked = true;
    settle(
      () => this.#source.query("changes", {}),
      ({ changes }) => {
        this.#marks = new WeakMap();
        this.byName.set(new Map(changes.map((change) => [keyOf(change.kind, change.name), change])));
      },
      this.#failed,
    );
  }

  /**
   * Marks each tile: `RISES` where it takes longer in the second trace, `FALLS` where it takes
   * less, else 0.
   * A tile of several events has the mark of its longest event, which gives it name and colour.
   */
  changesIn(trackTiles: TrackTiles, kinds: readonly Kind[]): Uint8Array {
    const known = this.#marks.get(trackTiles);
    if (known) return known;
    const { kind, name, names } = trackTiles.tiles;
    const marks = Uint8Array.from(name, (_, i) => {
      const event = { kind: kindName(kinds, kind[i] as number), name: names[name[i] as number] ?? "" };
      const change = this.of(event);
      if (!change) return 0;
      return change.after_ns > change.before_ns ? RISES : FALLS;
    });
    this.#marks.set(trackTiles, marks);
    return marks;
  }

  of({ kind, name }: { readonly kind: string; readonly name: string }): Change | null {
    return this.byName.value.get(keyOf(kind === "operator" ? kind : "kernel", name)) ?? null;
  }
}

const keyOf = (kind: string, name: string): string => `${kind}\n${name}`;
