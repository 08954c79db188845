import type { Answer, Ask, RequestType, Setup } from "./protocol";
import { Dropped, type Source, type TakenAway, type Wanted } from "./source";

/** Asks for a screen that is set up in one way, until it is to be another one. */
export class StagedSource implements Source {
  setup: Setup;
  readonly #source: Source;

  constructor(source: Source, setup: Setup) {
    this.#source = source;
    this.setup = setup;
  }

  query<T extends RequestType>(type: T, ask: Ask<T>): Answer<T> | Promise<Answer<T>> {
    const { setup } = this;
    const answer = this.#source.query(type, { ...setup, ...ask });
    if (!(answer instanceof Promise)) return answer;
    return answer.then((known) => {
      if (setup === this.setup) return known;
      // It is of a screen that is no more.
      if (type === "tiles") throw new Dropped();
      return this.query(type, ask);
    });
  }

  copy(wanted: Wanted): TakenAway | null {
    return this.#source.copy({ align: this.setup.align, ...wanted });
  }

  close(): void {
    this.#source.close();
  }
}
