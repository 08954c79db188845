import type { Core, Later } from "./core";
import type { Supply } from "./open";
import type { Answer, Ask, RequestType } from "./protocol";
import type { WasmSource } from "./session";
import type { Source, TakenAway, Wanted } from "./source";

/** What the first module of the core answers: all that is drawn at first, and what an event is. */
export const ANSWERED_FIRST: ReadonlySet<RequestType> = new Set<RequestType>([
  "overview",
  "tiles",
  "at",
  "event",
  "links",
  "neighbour",
  "search",
  "marks",
]);

const REST: readonly Later[] = ["analyses", "sharing"];

/** The core in this page, of which the rest is still on its way: what needs it is answered when it has come. */
export class GrowingSource implements Source {
  readonly #here: WasmSource;
  readonly #core: Core;
  readonly #bring: () => Promise<void>;

  constructor(here: WasmSource, core: Core, { version, core: fetch }: Pick<Supply, "version" | "core">) {
    this.#here = here;
    this.#core = core;
    this.#bring = () => core.add(version, fetch, REST);
    // Whoever needs it asks for it again, and is told what went wrong.
    this.#bring().catch(() => {});
  }

  query<T extends RequestType>(type: T, ask: Ask<T>): Answer<T> | Promise<Answer<T>> {
    if (ANSWERED_FIRST.has(type) || this.#core.has(REST)) return this.#here.query(type, ask);
    return this.#bring().then(() => this.#here.query(type, ask));
  }

  copy(wanted: Wanted): TakenAway | null {
    return this.#core.has(REST) ? this.#here.copy(wanted) : null;
  }

  close(): void {
    this.#here.close();
  }
}
