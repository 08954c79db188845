import { Memory } from "../../dist/kinetoscope_wasm.js";
import { decodeFrame } from "./frame";

/** A range of actions, or of nanoseconds after the first action. */
export interface MemoryRange {
  readonly axis: "actions" | "time";
  readonly start: number;
  readonly end: number;
}

/** Requests of a page about a memory snapshot. */
export interface MemoryAsk {
  /** Allocations in a range. */
  readonly bands: MemoryRange;
  /** The allocation of a band of that range. */
  readonly band: MemoryRange & { readonly row: number };
  /** Memory at a moment: `end`, `peak`, `oom` or the row of an action. */
  readonly state: { readonly at: string };
  /** Actions that match a text, from the `first` match on. */
  readonly events: { readonly text: string; readonly first: number };
  /** The stack of an action. */
  readonly stack: { readonly row: number };
}

/** A part of the page. */
interface MemoryPart {
  readonly html: string;
  /** The last action before the moment; null before the first. */
  readonly row?: number | null;
}

/** Texts of the file. */
interface MemoryLines {
  readonly lines: readonly string[];
}

interface MemoryAnswers {
  readonly bands: MemoryPart;
  readonly band: MemoryLines;
  readonly state: MemoryPart;
  readonly events: MemoryPart;
  readonly stack: MemoryLines;
}

/** Requests that are answered by parts of the page. */
export type MemoryPartName = "bands" | "state" | "events";

/** A memory snapshot, answered by the core in this page. `loadCore` must have finished. */
export class MemorySource {
  readonly #memory: Memory;

  constructor(file: Uint8Array) {
    this.#memory = Memory.read(file);
  }

  /** The body of the page, as HTML. */
  page(title: string): string {
    return this.#memory.page(title);
  }

  /** Throws `QueryError`. */
  query<T extends keyof MemoryAsk>(type: T, ask: MemoryAsk[T]): MemoryAnswers[T] {
    const request = new TextEncoder().encode(JSON.stringify({ type, ...ask }));
    return decodeFrame(this.#memory.query(request)).data as MemoryAnswers[T];
  }
}
