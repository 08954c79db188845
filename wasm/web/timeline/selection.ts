import { Cell } from "../base/cell";
import type { Direction, EventDetails, EventId, EventRef, Link } from "../source/protocol";
import { type Source, settle } from "../source/source";

export interface Selected {
  readonly details: EventDetails;
  readonly links: readonly Link[];
}

/** The event that the reader looks at, with all that the core says about it. */
export class Selection {
  readonly current = new Cell<Selected | null>(null);
  readonly #source: Source;
  readonly #failed: (error: unknown) => void;
  #wanted: EventId | null = null;

  constructor(source: Source, failed: (error: unknown) => void) {
    this.#source = source;
    this.#failed = failed;
  }

  clear(): void {
    this.#wanted = null;
    this.current.set(null);
  }

  select(id: EventId, then?: (selected: Selected) => void): void {
    this.#wanted = id;
    settle(
      () => this.#load(id),
      (selected) => {
        if (this.#wanted !== id) return;
        this.current.set(selected);
        then?.(selected);
      },
      this.#failed,
    );
  }

  #load(id: EventId): Selected | Promise<Selected> {
    const details = this.#source.query("event", { id });
    const links = this.#source.query("links", { id });
    if (!(details instanceof Promise) && !(links instanceof Promise)) return { details, links: links.links };
    return Promise.all([details, links]).then(([d, l]) => ({ details: d, links: l.links }));
  }

  /** The event beside, above or below the current one. */
  neighbour(direction: Direction, then: (event: EventRef) => void): void {
    const id = this.current.value?.details.id;
    if (id === undefined) return;
    settle(
      () => this.#source.query("neighbour", { id, direction }),
      ({ event }) => event && then(event),
      this.#failed,
    );
  }

  /** The event at the other end of a link: where it leads to (`forward`), or where it comes from. */
  partner(forward: boolean): EventRef | null {
    const selected = this.current.value;
    if (!selected) return null;
    const { details, links } = selected;
    const link = links.find((l) => (forward ? l.source : l.target).id === details.id);
    if (link) return forward ? link.target : link.source;
    return (forward ? details.device_events[0] : details.launch) ?? null;
  }
}
