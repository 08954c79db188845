import { Cell } from "../base/cell";
import type { Span } from "../base/time";
import { FIRST_TABLE, type TableQuery } from "./range";

/** The range that the marked one is compared with. */
export class Comparison {
  readonly base = new Cell<Span | null>(null);
  readonly asking = new Cell<TableQuery>(FIRST_TABLE);

  clear(): void {
    this.base.set(null);
  }

  /** Chooses a table, without an order. */
  choose(table: number): void {
    this.asking.set({ ...FIRST_TABLE, table });
  }

  ask(change: Partial<TableQuery>): void {
    this.asking.update((asking) => ({ ...asking, ...change }));
  }
}
