import { Cell } from "../base/cell";
import type { Change, Overview } from "../source/protocol";
import { type Source, settle } from "../source/source";

/** Whether two traces of one rank are on the screen, to be compared; two ranks of a job are not. */
export const isComparison = ({ parts }: Overview): boolean => parts.length === 2 && parts[0]?.rank === parts[1]?.rank;

/** What takes another time in the second trace than in the first. */
export class Changes {
  readonly byName = new Cell<ReadonlyMap<string, Change>>(new Map());
  readonly #source: Source;
  readonly #failed: (error: unknown) => void;
  #asked = false;

  constructor(source: Source, failed: (error: unknown) => void) {
    this.#source = source;
    this.#failed = failed;
  }

  ask(): void {
    if (this.#asked) return;
    this.#asked = true;
    settle(
      () => this.#source.query("changes", {}),
      ({ changes }) => this.byName.set(new Map(changes.map((change) => [keyOf(change.kind, change.name), change]))),
      this.#failed,
    );
  }

  of({ kind, name }: { readonly kind: string; readonly name: string }): Change | null {
    return this.byName.value.get(keyOf(kind === "operator" ? kind : "kernel", name)) ?? null;
  }
}

const keyOf = (kind: string, name: string): string => `${kind}\n${name}`;
