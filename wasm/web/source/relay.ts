import type { Answer, Ask, RequestType } from "./protocol";
import type { Source, TakenAway, Wanted } from "./source";

/** Asks one source until a better one is there. Both answer the same, so nobody sees the change. */
export class RelaySource implements Source {
  #source: Source;
  #open = true;

  constructor(first: Source) {
    this.#source = first;
  }

  query<T extends RequestType>(type: T, ask: Ask<T>): Answer<T> | Promise<Answer<T>> {
    return this.#source.query(type, ask);
  }

  copy(wanted: Wanted): TakenAway | null {
    return this.#source.copy(wanted);
  }

  /** From now on `better` answers. What the other was asked before, it still may. */
  change(better: Source): void {
    if (this.#open) this.#source = better;
    else better.close();
  }

  close(): void {
    this.#open = false;
    this.#source.close();
  }
}
