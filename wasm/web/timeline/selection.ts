import { Cell } from "../base/cell";
import type { Direction, EventDetails, EventId, EventRef, Link } from "../source/protocol";
import { type Source, settle } from "../source/source";

export interface Selected {
  readonly details: EventDetails;
  readonly links: readonly Link[];
  /** Index of the link to follow, among outgoing and incoming links. */
  readonly chosen: { readonly forward: number; readonly back: number };
}

const FIRST = { forward: 0, back: 0 };

/** The selected event with its details and links. */
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
    this.look(id, (selected) => {
      this.current.set(selected);
      then?.(selected);
    });
  }

  /** Requests an event's details. `use` is not called if another event is requested meanwhile. */
  look(id: EventId, use: (selected: Selected) => void): void {
    this.#wanted = id;
    settle(
      () => this.#load(id),
      (selected) => {
        if (this.#wanted === id) use(selected);
      },
      this.#failed,
    );
  }

  #load(id: EventId): Selected | Promise<Selected> {
    const details = this.#source.query("event", { id });
    const links = this.#source.query("links", { id });
    if (!(details instanceof Promise) && !(links instanceof Promise))
      return { details, links: links.links, chosen: FIRST };
    return Promise.all([details, links]).then(([d, l]) => ({ details: d, links: l.links, chosen: FIRST }));
  }

  /** Requests the event beside, above or below the current one. */
  neighbour(direction: Direction, then: (event: EventRef) => void): void {
    const id = this.current.value?.details.id;
    if (id === undefined) return;
    settle(
      () => this.#source.query("neighbour", { id, direction }),
      ({ event }) => event && then(event),
      this.#failed,
    );
  }

  /** The event at the other end of the chosen link: its target (`forward`) or its source. */
  partner(forward: boolean): EventRef | null {
    const { chosen } = this.current.value ?? { chosen: FIRST };
    return this.partners(forward)[forward ? chosen.forward : chosen.back] ?? null;
  }

  /** The events at the other ends of all links in one direction. */
  partners(forward: boolean): readonly EventRef[] {
    const selected = this.current.value;
    if (!selected) return [];
    const { details, links } = selected;
    const ours = links.filter((link) => (forward ? link.source : link.target).id === details.id);
    if (ours.length > 0) return ours.map((link) => (forward ? link.target : link.source));
    const own = details.kind === "launch" ? details.device_events : [];
    return forward ? own.slice(0, 1) : [details.launch].filter((launch) => launch !== null);
  }

  /** Whether the chosen link leads to the event, and there are others. */
  isChosen(id: EventId): boolean {
    return [true, false].some((forward) => this.partners(forward).length > 1 && this.partner(forward)?.id === id);
  }

  /** Chooses the next link, wrapping around. Returns its index and the number of links. */
  choose(forward: boolean): readonly [number, number] {
    const selected = this.current.value;
    const count = this.partners(forward).length;
    if (!selected || count === 0) return [0, count];
    const key = forward ? "forward" : "back";
    const at = (selected.chosen[key] + 1) % count;
    this.current.set({ ...selected, chosen: { ...selected.chosen, [key]: at } });
    return [at, count];
  }
}
