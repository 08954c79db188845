import { asDuration, asTime, type Span } from "../base/time";
import { cssRowTop } from "./paint/scene";
import { laneAt, type Row, rowsBetween } from "./row";
import type { Sheet } from "./sheet";
import { kindName } from "./sheet";
import type { Piece } from "./tile-cache";
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
  const nsPerPixel = (window.end - window.start) / Math.max(1, width);
  const pieces = timeline.tiles.pieces(lane.track, window, width);
  const time = window.start + place.x * nsPerPixel;
  const found = nearest(pieces, lane.lane, time, TOLERANCE * nsPerPixel);
  return found && hoverOf(timeline, found, place);
}

/** The stream at `place`; null on what is none. */
export function streamAt(timeline: Timeline, place: Place): number | null {
  const row = rowAt(timeline, place.y);
  const track = row && laneAt(row, place.y - cssRowTop(timeline, row))?.track;
  return row?.tracks.find((own) => own.track === track && own.kind === "stream")?.track ?? null;
}

/** The first event of the topmost row that shows any. */
export function firstOnScreen(timeline: Timeline): Hover | null {
  const { pinned, scrolled } = timeline.layout.value;
  const window = timeline.viewport.window.value;
  const rows = [...pinned, ...rowsBetween(scrolled, timeline.viewport.scroll.value, Number.POSITIVE_INFINITY)];
  for (const { track } of rows.flatMap((row) => row.tracks)) {
    const pieces = timeline.tiles.pieces(track, window, timeline.size.value.width);
    const found = firstStarting(pieces, window);
    if (found) return hoverOf(timeline, found, { x: 0, y: 0 });
  }
  return null;
}

/** A tile of a sheet. */
interface Found {
  readonly sheet: Sheet;
  readonly index: number;
}

/** The tile of the outermost lane that begins first in `window`. */
function firstStarting(pieces: readonly Piece[], window: Span): Found | null {
  let best: Found | null = null;
  const laneOf = ({ sheet, index }: Found) => sheet.tiles.lane[index] as number;
  for (const { sheet } of pieces) {
    const index = sheet.tiles.start.findIndex((start) => start >= window.start && start < window.end);
    if (index >= 0 && (!best || laneOf({ sheet, index }) < laneOf(best))) best = { sheet, index };
  }
  return best;
}

/** The tile of `lane` at `time`, or the nearest one within `tolerance`. */
function nearest(pieces: readonly Piece[], lane: number, time: number, tolerance: number): Found | null {
  let best: Found | null = null;
  let bestOff = tolerance;
  for (const { sheet, span } of pieces) {
    if (span.start > time + tolerance || span.end < time - tolerance) continue;
    const { start: starts, dur } = sheet.tiles;
    const end = sheet.laneEnd(lane);
    for (let index = sheet.firstIn(lane, time - tolerance); index < end; index++) {
      const start = starts[index] as number;
      if (start > time + tolerance) break;
      const off = Math.max(0, start - time, time - start - (dur[index] as number));
      if (off > bestOff || (best && off === bestOff)) continue;
      best = { sheet, index };
      bestOff = off;
    }
  }
  return best;
}

function hoverOf(timeline: Timeline, { sheet, index }: Found, place: Place): Hover {
  const { tiles } = sheet;
  return {
    ...place,
    id: tiles.id[index] as number,
    name: tiles.names[tiles.name[index] as number] ?? "",
    label: sheet.label(index),
    kind: kindName(timeline.overview.kinds, tiles.kind[index] as number),
    track: sheet.track,
    lane: tiles.lane[index] as number,
    start: asTime(tiles.start[index] as number),
    dur: asDuration(tiles.dur[index] as number),
    count: tiles.count[index] as number,
  };
}
