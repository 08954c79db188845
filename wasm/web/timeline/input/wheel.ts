import { lengthOf } from "../../base/time";
import type { Timeline } from "../timeline";

export const ZOOM_PER_PIXEL = 1.0022;
const LINE = 18;

export interface WheelTurn {
  readonly deltaX: number;
  readonly deltaY: number;
  readonly deltaMode: number;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
}

/** Position and time of a turn of the wheel. */
export interface WheelPlace {
  readonly x: number;
  /** Over the ruler, the iterations or the minimap. */
  readonly onHeader: boolean;
  /** Whether the reader uses the timeline. */
  readonly isUsed: boolean;
}

/**
 * Handles the wheel; returns false to leave it to the page.
 * Ctrl or Cmd zooms everywhere; browsers send a touchpad's pinch in this form. Otherwise the page
 * scrolls until the reader uses the timeline. Then the wheel scrolls the tracks, and never the
 * page. With Shift or sideways it moves in time, and over the header it zooms.
 */
export function turnWheel(timeline: Timeline, turn: WheelTurn, place: WheelPlace): boolean {
  const { dx, dy } = turnPixels(turn, timeline.size.value.height);
  if (turn.ctrlKey || turn.metaKey) return zoom(timeline, dy, place.x);
  if (!place.isUsed) return false;
  if (turn.shiftKey) return pan(timeline, dx || dy);
  if (Math.abs(dx) > Math.abs(dy)) return pan(timeline, dx);
  return place.onHeader ? zoom(timeline, dy, place.x) : scroll(timeline, dy);
}

/** Pixels of a turn; `page` is the height of the picture. */
export function turnPixels(
  turn: Pick<WheelTurn, "deltaX" | "deltaY" | "deltaMode">,
  page: number,
): { dx: number; dy: number } {
  const unit = [1, LINE, page][turn.deltaMode] ?? 1;
  return { dx: turn.deltaX * unit, dy: turn.deltaY * unit };
}

function zoom(timeline: Timeline, dy: number, x: number): true {
  const { viewport } = timeline;
  const window = viewport.window.value;
  const anchor = window.start + (x / Math.max(1, timeline.size.value.width)) * lengthOf(window);
  // A notch of a mouse is about 120 pixels, a pinch sends a few at a time: the limit suits both.
  viewport.zoom(ZOOM_PER_PIXEL ** Math.max(-160, Math.min(160, dy)), anchor, false);
  return true;
}

function pan(timeline: Timeline, dx: number): true {
  const { viewport } = timeline;
  viewport.pan((dx / Math.max(1, timeline.size.value.width)) * lengthOf(viewport.window.value));
  return true;
}

function scroll(timeline: Timeline, dy: number): true {
  timeline.viewport.scrollBy(dy);
  return true;
}
