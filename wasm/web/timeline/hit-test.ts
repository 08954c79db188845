import { asDuration, asTime, type Span } from "../base/time";
import { cssRowTop } from "./paint/scene";
import { laneAt, type Row, rowsBetween } from "./row";
import type { Piece } from "./tile-cache";
import type { Hover, Timeline } from "./timeline";
import type { TrackTiles } from "./track-tiles";
import { kindName } from "./track-tiles";

// In CSS pixels, so that a bar of one pixel can be hit.
const TOLERANCE = 3;

/** A point on the tracks, in CSS pixels from their top left corner. */
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

/** The event at `place`, as drawn. */
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

/** The stream at `place`; null on other tracks. */
export function streamAt(timeline: Timeline, place: Place): number | null {
  const row = rowAt(timeline, place.y);
  const track = row && laneAt(row, place.y - cssRowTop(timeline, row))?.track;
  return row?.tracks.find((own) => own.track === track && own.kind === "stream")?.track ?? null;
}

/** The first event of the topmost row with events. */
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

/** A tile and its index. */
interface FoundTile {
  readonly trackTiles: TrackTiles;
  readonly index: number;
}

/** The tile on the outermost lane that starts first in `window`. */
function firstStarting(pieces: readonly Piece[], window: Span): FoundTile | null {
  let best: FoundTile | null = null;
  const laneOf = ({ trackTiles, index }: FoundTile) => trackTiles.tiles.lane[index] as number;
  for (const { trackTiles } of pieces) {
    const index = trackTiles.tiles.start.findIndex((start) => start >= window.start && start < window.end);
    if (index >= 0 && (!best || laneOf({ trackTiles, index }) < laneOf(best))) best = { trackTiles, index };
  }
  return best;
}

/** The tile of `lane` at `time`, or the nearest one within `tolerance` nanoseconds. */
function nearest(pieces: readonly Piece[], lane: number, time: number, tolerance: number): FoundTile | null {
  let best: FoundTile | null = null;
  let bestOff = tolerance;
  for (const { trackTiles, span } of pieces) {
    if (span.start > time + tolerance || span.end < time - tolerance) continue;
    const { start: starts, dur } = trackTiles.tiles;
    const end = trackTiles.laneEnd(lane);
    for (let index = trackTiles.firstIn(lane, time - tolerance); index < end; index++) {
      const start = starts[index] as number;
      if (start > time + tolerance) break;
      const off = Math.max(0, start - time, time - start - (dur[index] as number));
      if (off > bestOff || (best && off === bestOff)) continue;
      best = { trackTiles, index };
      bestOff = off;
    }
  }
  return best;
}

function hoverOf(timeline: Timeline, { trackTiles, index }: FoundTile, place: Place): Hover {
  const { tiles } = trackTiles;
  return {
    ...place,
    id: tiles.id[index] as number,
    name: tiles.names[tiles.name[index] as number] ?? "",
    label: trackTiles.label(index),
    kind: kindName(timeline.overview.kinds, tiles.kind[index] as number),
    track: trackTiles.track,
    lane: tiles.lane[index] as number,
    start: asTime(tiles.start[index] as number),
    dur: asDuration(tiles.dur[index] as number),
    count: tiles.count[index] as number,
  };
}
