import type { Cell } from "../base/cell";
import type { EventRef, Track } from "../source/protocol";
import { firstLane, numLanes } from "./row";
import type { Tracks } from "./tracks";
import type { Viewport } from "./viewport";

/** Where something lies among the scrolled tracks. */
interface Place {
  readonly top: number;
  readonly bottom: number;
}

/** Scrolls the tracks so that what is looked at is on the screen. */
export class Sight {
  readonly #tracks: Tracks;
  readonly #viewport: Viewport;
  readonly #size: Cell<{ readonly width: number; readonly height: number }>;

  constructor(tracks: Tracks, viewport: Viewport, size: Cell<{ readonly width: number; readonly height: number }>) {
    this.#tracks = tracks;
    this.#viewport = viewport;
    this.#size = size;
  }

  /** To an event, and to its partner too where both fit: a link is seen best with its two ends. */
  scrollTo(event: EventRef, partner: EventRef | null): void {
    const own = this.#placeOf(event);
    if (!own) return;
    const other = partner && this.#placeOf(partner);
    const both = other && { top: Math.min(own.top, other.top), bottom: Math.max(own.bottom, other.bottom) };
    if (both && both.bottom - both.top <= this.#height) this.#bring(both, (this.#height - both.bottom + both.top) / 2);
    // Alone, it comes to lie with some of what is around it above, and most of what is inside it below.
    else this.#bring(own, this.#height / 3);
  }

  /** To the innermost lane of a track. */
  scrollToTrack(track: Track): void {
    const place = this.#placeOf({ track: track.track, lane: numLanes(track) - 1 });
    if (place) this.#bring(place, this.#height / 3);
  }

  /** No further than to the last track. */
  limit(): void {
    const { pinnedHeight, scrolledHeight } = this.#tracks.layout.value;
    this.#viewport.limitScroll(scrolledHeight + pinnedHeight - this.#size.value.height);
  }

  get #height(): number {
    return this.#size.value.height - this.#tracks.layout.value.pinnedHeight;
  }

  #bring({ top, bottom }: Place, above: number): void {
    const scroll = this.#viewport.scroll.value;
    if (top >= scroll && bottom <= scroll + this.#height) return;
    this.#viewport.scrollTo(top - above, true);
  }

  /** Null if it is pinned, and so always in sight. */
  #placeOf({ track, lane }: Pick<EventRef, "track" | "lane">): Place | null {
    const row = this.#tracks.layout.value.rowOf.get(track);
    if (!row || row.pinned) return null;
    const top = row.top + row.laneTop + (firstLane(row, track) + lane) * row.laneHeight;
    return { top, bottom: top + row.laneHeight };
  }
}
