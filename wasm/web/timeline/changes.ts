import { Cell } from "../base/cell";
import type { Kind } from "../base/palette";
import type { Change, Overview } from "../source/protocol";
import { type Source, settle } from "../source/source";
import { kindName, type Sheet } from "./sheet";

export const FALLS = 1;
export const RISES = 2;

/** Whether two traces of one rank are on the screen, to be compared; two ranks of a job are not. */
export const isComparison = ({ parts }: Overview): boolean => parts.length === 2 && parts[0]?.rank === parts[1]?.rank;

/** Whether the traces on the screen are ranks of one job. */
export const isJob = (overview: Overview): boolean => overview.parts.length > 1 && !isComparison(overview);

/** What takes another time in the second trace than in the first. */
export class Changes {
  readonly byName = new Cell<ReadonlyMap<string, Change>>(new Map());
  readonly #source: Source;
  readonly #failed: (error: unknown) => void;
  #asked = false;
  #marks = new WeakMap<Sheet, Uint8Array>();

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
   * For each tile of a sheet whether it takes longer in the second trace (`RISES`), does not (`FALLS`), or is the same (0). A tile of
   * several events is marked for the one that it is named and coloured for, the longest: nearly every such tile holds one that changed.
   */
  changesIn(sheet: Sheet, kinds: readonly Kind[]): Uint8Array {
    const known = this.#marks.get(sheet);
    if (known) return known;
    const { kind, name, names } = sheet.tiles;
    const marks = Uint8Array.from(name, (_, i) => {
      const event = { kind: kindName(kinds, kind[i] as number), name: names[name[i] as number] ?? "" };
      const change = this.of(event);
      if (!change) return 0;
      return change.after_ns > change.before_ns ? RISES : FALLS;
    });
    this.#marks.set(sheet, marks);
    return marks;
  }

  of({ kind, name }: { readonly kind: string; readonly name: string }): Change | null {
    return this.byName.value.get(keyOf(kind === "operator" ? kind : "kernel", name)) ?? null;
  }
}

const keyOf = (kind: string, name: string): string => `${kind}\n${name}`;
