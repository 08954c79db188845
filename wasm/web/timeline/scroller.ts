import type { Cell } from "../base/cell";
import type { EventRef, Track } from "../source/protocol";
import { firstLane, numLanes } from "./row";
import type { Tracks } from "./tracks";
import type { Viewport } from "./viewport";

// Free space below an event at the lower end of the picture, in CSS pixels.
const BELOW = 8;

/** Vertical extent among the scrolled tracks. */
interface Extent {
  readonly top: number;
  readonly bottom: number;
}

/** Scrolls the tracks to events and tracks. */
export class Scroller {
  readonly #tracks: Tracks;
  readonly #viewport: Viewport;
  readonly #size: Cell<{ readonly width: number; readonly height: number }>;
  /** The event of the last jump, and its partner. */
  #last: { readonly event: EventRef; readonly partner: EventRef | null } | null = null;

  constructor(tracks: Tracks, viewport: Viewport, size: Cell<{ readonly width: number; readonly height: number }>) {
    this.#tracks = tracks;
    this.#viewport = viewport;
    this.#size = size;
  }

  /**
   * Scrolls to an event, and to its partner where both fit: then both ends of the link are visible.
   */
  scrollTo(event: EventRef, partner: EventRef | null): void {
    this.#last = { event, partner };
    const own = this.#placeOf(event);
    if (!own) return;
    const other = partner && this.#placeOf(partner);
    const both = other && { top: Math.min(own.top, other.top), bottom: Math.max(own.bottom, other.bottom) };
    if (both && both.bottom - both.top <= this.#height) this.#bring(both, (this.#height - both.bottom + both.top) / 2);
    // A third of the height shows its surroundings above; the rest shows what is inside it.
    else this.#bring(own, this.#height / 3);
  }

  /**
   * Keeps an event visible after a change of the size. Repeats the jump to it; otherwise scrolls as
   * little as possible, because the reader has clicked on it.
   */
  keep(event: EventRef): void {
    const place = this.#placeOf(event);
    if (this.#last?.event.id === event.id) this.scrollTo(event, this.#last.partner);
    else if (place) this.#bring(place, this.#height - (place.bottom - place.top) - BELOW);
  }

  /** Scrolls to the innermost lane of a track. */
  scrollToTrack(track: Track): void {
    const place = this.#placeOf({ track: track.track, lane: numLanes(track) - 1 });
    if (place) this.#bring(place, this.#height / 3);
  }

  /** Stops scrolling at the last track. */
  limit(): void {
    const { pinnedHeight, scrolledHeight } = this.#tracks.layout.value;
    this.#viewport.limitScroll(scrolledHeight + pinnedHeight - this.#size.value.height);
  }

  get #height(): number {
    return this.#size.value.height - this.#tracks.layout.value.pinnedHeight;
  }

  #bring({ top, bottom }: Extent, above: number): void {
    const scroll = this.#viewport.scroll.value;
    if (top >= scroll && bottom <= scroll + this.#height) return;
    this.#viewport.scrollTo(top - above, true);
  }

  /** Null for pinned tracks, which are always visible. */
  #placeOf({ track, lane }: Pick<EventRef, "track" | "lane">): Extent | null {
    const row = this.#tracks.layout.value.rowOf.get(track);
    if (!row || row.pinned) return null;
    const top = row.top + row.laneTop + (firstLane(row, track) + lane) * row.laneHeight;
    return { top, bottom: top + row.laneHeight };
  }
}
