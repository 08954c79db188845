import { Cell } from "../base/cell";
import { Cleanup } from "../base/cleanup";
import { formatDuration, formatPlural } from "../base/format";
import type { ColorBy } from "../base/palette";
import { scaleOf } from "../base/scale";
import { lengthOf, padded, type Span, span, type Time } from "../base/time";
import type { EventId, EventRef, Overview } from "../source/protocol";
import { messageOf, type Source } from "../source/source";
import { type Folding, firstLane, type Layout, layOut } from "./layout";
import { Range } from "./range";
import { Search } from "./search";
import { type Selected, Selection } from "./selection";
import { TileCache } from "./tile-cache";
import { Viewport } from "./viewport";

/** What lies under the pointer. */
export interface Hover extends EventRef {
  /** How many events the rectangle stands for. */
  readonly count: number;
  readonly x: number;
  readonly y: number;
}

export type Drawer = "event" | "range";
export type Popover = "help" | "health";

// An event narrower than this on the screen is zoomed to when someone outside asks for it.
const MIN_VISIBLE = 4;

/** All that the timeline knows; draws nothing and listens to nobody. */
export class Timeline {
  readonly source: Source;
  readonly overview: Overview;
  readonly viewport: Viewport;
  readonly selection: Selection;
  readonly search: Search;
  readonly range: Range;
  readonly tiles: TileCache;
  readonly folding = new Cell<Folding>({ folded: new Set(), pinned: new Set() });
  readonly layout: Cell<Layout>;
  readonly colorBy = new Cell<ColorBy>("kind");
  readonly hover = new Cell<Hover | null>(null);
  readonly drawer = new Cell<Drawer | null>(null);
  readonly popover = new Cell<Popover | null>(null);
  readonly error = new Cell<string | null>(null);
  /** For readers who hear the screen. */
  readonly said = new Cell("");
  /** Raised when a picture is out of date for a reason that no other cell tells. */
  readonly stale = new Cell(0);
  /** Where the pointer is, in CSS pixels from the left of the picture. */
  readonly pointer = new Cell<number | null>(null);
  /** CSS pixels that the tracks have on the screen. */
  readonly size = new Cell({ width: 0, height: 0 });
  readonly #cleanup = new Cleanup();

  constructor(source: Source, overview: Overview) {
    const failed = (error: unknown) => this.error.set(messageOf(error));
    this.source = source;
    this.overview = overview;
    this.viewport = new Viewport(overview.duration);
    this.selection = new Selection(source, failed);
    this.search = new Search(source, failed);
    this.range = new Range(source, failed);
    this.tiles = new TileCache(source, () => this.stale.update((n) => n + 1), failed);
    this.layout = new Cell(layOut(overview, this.folding.value));
    const relay = () => {
      this.layout.set(layOut(overview, this.folding.value));
      this.#limitScroll();
    };
    this.#cleanup.add(this.folding.subscribe(relay));
    this.#cleanup.add(this.size.subscribe(() => this.#resized()));
  }

  close(): void {
    this.#cleanup.run();
    this.source.close();
  }

  get pointerTime(): Time | null {
    const x = this.pointer.value;
    return x === null ? null : scaleOf(this.viewport.window.value, this.size.value.width).time(x);
  }

  select(id: EventId, then?: (selected: Selected) => void): void {
    this.selection.select(id, (selected) => {
      const { name, kind, start, dur } = selected.details;
      this.drawer.set("event");
      this.said.set(`${name}, ${kind}, ${formatDuration(dur)} at ${formatDuration(start)}`);
      then?.(selected);
    });
  }

  /** Selects an event and brings it onto the screen. */
  visit(event: EventRef | null): void {
    if (event) this.select(event.id, () => this.reveal(event));
  }

  /** As `visit`, for an event known by its id alone; zooms in where it could not be seen. */
  go(id: EventId): void {
    this.select(id, ({ details }) => {
      const perPixel = lengthOf(this.viewport.target) / Math.max(1, this.size.value.width);
      if (details.dur < MIN_VISIBLE * perPixel) this.showEvent(details, 20);
      this.reveal(details);
    });
  }

  clear(): void {
    if (this.popover.value) this.popover.set(null);
    else if (this.error.value) this.error.set(null);
    else if (this.selection.current.value) this.#deselect();
    else if (this.range.span.value) this.unmark();
    else this.search.clear();
  }

  #deselect(): void {
    this.selection.clear();
    this.drawer.set(this.range.span.value ? "range" : null);
    this.said.set("Selection cleared");
  }

  unmark(): void {
    this.range.clear();
    this.drawer.set(this.selection.current.value ? "event" : null);
  }

  mark(marked: Span, settled: boolean): void {
    this.range.mark(marked);
    if (!settled) return;
    this.drawer.set("range");
    this.range.sumUp();
    this.said.set(`Range of ${formatDuration(lengthOf(marked))} at ${formatDuration(marked.start)}`);
  }

  step(by: 1 | -1): void {
    const id = this.search.step(by, this.viewport.target.start);
    if (id !== null) this.select(id, ({ details }) => this.reveal(details));
  }

  find(text: string): void {
    this.search.ask(text);
    const found = this.search.found.value;
    if (found) this.said.set(`${formatPlural(found.hits.count, "hit")} for ${text}`);
  }

  /** Moves the window so that `event` fills 1/`room` of it. */
  showEvent(event: EventRef, room = 1.25): void {
    const length = Math.max(1, event.dur);
    this.viewport.show(padded(span(event.start, event.start + length), (length * (room - 1)) / 2), true);
  }

  /** Brings an event onto the screen without changing the zoom, unless it is longer than the screen. */
  reveal(event: EventRef): void {
    const { target } = this.viewport;
    const end = event.start + event.dur;
    const length = lengthOf(target);
    if (event.dur > length) this.showEvent(event);
    else if (event.start < target.start || end > target.end) {
      this.viewport.pan((event.start + end) / 2 - (target.start + target.end) / 2, true);
    }
    this.#scrollTo(event);
  }

  /** Scrolls to an event, and to its partner too where both fit: a link is seen best with its two ends. */
  #scrollTo(event: EventRef): void {
    const own = this.#placeOf(event);
    if (!own) return;
    const partner = this.selection.partner(event.kind === "launch");
    const other = partner && this.#placeOf(partner);
    const both = other && { top: Math.min(own.top, other.top), bottom: Math.max(own.bottom, other.bottom) };
    const height = this.size.value.height - this.layout.value.pinnedHeight;
    const wanted = both && both.bottom - both.top <= height ? both : own;
    const scroll = this.viewport.scroll.value;
    if (wanted.top >= scroll && wanted.bottom <= scroll + height) return;
    // Alone, it comes to lie with some of what is around it above, and most of what is inside it below.
    const above = wanted === own ? height / 3 : (height - (wanted.bottom - wanted.top)) / 2;
    this.viewport.scrollTo(wanted.top - above, true);
  }

  /** Where an event lies among the scrolled tracks; null if it is pinned, and so always in sight. */
  #placeOf(event: EventRef): { top: number; bottom: number } | null {
    const row = this.layout.value.rowOf.get(event.track);
    if (!row || row.pinned) return null;
    const top = row.top + row.laneTop + (firstLane(row, event.track) + event.lane) * row.laneHeight;
    return { top, bottom: top + row.laneHeight };
  }

  toggleFold(key: string): void {
    this.folding.update(({ folded, pinned }) => ({ folded: toggled(folded, key), pinned }));
  }

  foldAll(fold: boolean): void {
    const keys = this.overview.tracks.map((track) => `track-${track.track}`);
    this.folding.update(({ pinned }) => ({ folded: new Set(fold ? keys : []), pinned }));
  }

  togglePin(track: number): void {
    this.folding.update(({ folded, pinned }) => ({ folded, pinned: toggled(pinned, track) }));
  }

  /** The drawer that opens for an event must not cover the event. */
  #resized(): void {
    this.#limitScroll();
    const event = this.selection.current.value?.details;
    if (event) this.#scrollTo(event);
  }

  #limitScroll(): void {
    const { pinnedHeight, scrolledHeight } = this.layout.value;
    this.viewport.limitScroll(scrolledHeight + pinnedHeight - this.size.value.height);
  }
}

function toggled<T>(set: ReadonlySet<T>, item: T): ReadonlySet<T> {
  const copy = new Set(set);
  if (!copy.delete(item)) copy.add(item);
  return copy;
}
