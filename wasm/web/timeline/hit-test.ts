import type { Kind } from "../base/palette";
import { asDuration, asTime } from "../base/time";
import { cssRowTop } from "./paint/scene";
import { laneAt, type Row, rowsBetween } from "./row";
import type { Sheet } from "./sheet";
import { kindName } from "./sheet";
import type { Hover, Timeline } from "./timeline";

// A bar of one pixel can still be hit.
const TOLERANCE = 3;

/** A place on the tracks, in CSS pixels from their top left. */
export interface Place {
  readonly x: number;
  readonly y: number;
}

export function rowAt(timeline: Timeline, y: number): Row | null {
  const { pinned, pinnedHeight, scrolled } = timeline.layout.value;
  const rows = y < pinnedHeight ? pinned : scrolled;
  return rows.find((row) => within(y, cssRowTop(timeline, row), row.height)) ?? null;
}

const within = (y: number, top: number, height: number): boolean => y >= top && y < top + height;

/** The rectangle on the screen at `place`, as it was drawn. */
export function eventAt(timeline: Timeline, place: Place): Hover | null {
  const row = rowAt(timeline, place.y);
  const lane = row && laneAt(row, place.y - cssRowTop(timeline, row));
  if (!lane) return null;
  const { width } = timeline.size.value;
  const window = timeline.viewport.window.value;
  const sheet = timeline.tiles.sheet(lane.track, window, width);
  if (!sheet) return null;
  const nsPerPixel = (window.end - window.start) / Math.max(1, width);
  const index = nearest(sheet, lane.lane, window.start + place.x * nsPerPixel, TOLERANCE * nsPerPixel);
  return index < 0 ? null : hoverOf(timeline, sheet, index, place);
}

/** The first event of the topmost row that shows any. */
export function firstOnScreen(timeline: Timeline): Hover | null {
  const { pinned, scrolled } = timeline.layout.value;
  const window = timeline.viewport.window.value;
  const rows = [...pinned, ...rowsBetween(scrolled, timeline.viewport.scroll.value, Number.POSITIVE_INFINITY)];
  for (const { track } of rows.flatMap((row) => row.tracks)) {
    const sheet = timeline.tiles.sheet(track, window, timeline.size.value.width);
    const index = sheet?.tiles.start.findIndex((start) => start >= window.start && start < window.end) ?? -1;
    if (sheet && index >= 0) return hoverOf(timeline, sheet, index, { x: 0, y: 0 });
  }
  return null;
}

/** The tile of `lane` at `time`, or the nearest one within `tolerance`; −1 if none. */
function nearest(sheet: Sheet, lane: number, time: number, tolerance: number): number {
  const { tiles } = sheet;
  let best = -1;
  let bestOff = tolerance;
  for (let i = 0; i < sheet.length; i++) {
    if (tiles.lane[i] !== lane) continue;
    const start = tiles.start[i] as number;
    const off = Math.max(0, start - time, time - start - (tiles.dur[i] as number));
    if (off < bestOff || (off === 0 && best < 0)) {
      best = i;
      bestOff = off;
    }
  }
  return best;
}

function hoverOf(timeline: Timeline, sheet: Sheet, index: number, place: Place): Hover {
  const { tiles } = sheet;
  return {
    ...place,
    id: tiles.id[index] as number,
    name: tiles.names[tiles.name[index] as number] ?? "",
    kind: kindName(timeline.overview.kinds, tiles.kind[index] as number) as Kind,
    track: sheet.track,
    lane: tiles.lane[index] as number,
    start: asTime(tiles.start[index] as number),
    dur: asDuration(tiles.dur[index] as number),
    count: tiles.count[index] as number,
  };
}
