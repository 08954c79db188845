import { Memory } from "../../dist/kinetoscope_wasm.js";
import { decodeFrame } from "./frame";

/** Requests of a page about a memory snapshot. */
export interface MemoryAsk {
  /** Allocations in a range of nanoseconds after the first action. */
  readonly bands: { readonly axis: "actions" | "time"; readonly start: number; readonly end: number };
  /** Memory at a moment: `end`, `peak`, `oom` or the row of an action. */
  readonly state: { readonly at: string };
  /** Actions that match a text, from the `first` match on. */
  readonly events: { readonly text: string; readonly first: number };
}

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

  /** A part of the page, as HTML. Throws `QueryError`. */
  query<T extends keyof MemoryAsk>(type: T, ask: MemoryAsk[T]): string {
    const request = new TextEncoder().encode(JSON.stringify({ type, ...ask }));
    const { html } = decodeFrame(this.#memory.query(request)).data as { readonly html: string };
    return html;
  }
}
