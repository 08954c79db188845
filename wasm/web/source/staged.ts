import type { Answer, Ask, RequestType, Setup } from "./protocol";
import type { Source, TakenAway, Wanted } from "./source";

/** Asks for a screen that is set up in one way, until it is to be another one. */
export class StagedSource implements Source {
  setup: Setup;
  readonly #source: Source;

  constructor(source: Source, setup: Setup) {
    this.#source = source;
    this.setup = setup;
  }

  query<T extends RequestType>(type: T, ask: Ask<T>): Answer<T> | Promise<Answer<T>> {
    return this.#source.query(type, { ...this.setup, ...ask });
  }

  copy(wanted: Wanted): TakenAway | null {
    return this.#source.copy?.({ align: this.setup.align, ...wanted }) ?? null;
  }

  close(): void {
    this.#source.close();
  }
}
