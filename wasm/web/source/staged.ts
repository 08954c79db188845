import type { Answer, Ask, RequestType, Setup } from "./protocol";
import { type CopyOptions, Dropped, type ExportSource, type Source } from "./source";

/** Adds the screen's options to requests. `setup` can change at any time. */
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
      // The answer is for options that have changed meanwhile.
      if (type === "tiles") throw new Dropped();
      return this.query(type, ask);
    });
  }

  copy(wanted: CopyOptions): ExportSource | null {
    return this.#source.copy({ align: this.setup.align, ...wanted });
  }

  close(): void {
    this.#source.close();
  }
}
