import { scaleOf } from "../base/scale";
import { rowAt } from "./hit-test";
import { cssRowTop } from "./paint/scene";
import { laneAt } from "./row";
import type { Timeline } from "./timeline";
import type { TrackTiles } from "./track-tiles";

/** Snapping distance in CSS pixels. */
const REACH = 7;

/**
 * The time at `x`, or the edge of an event or iteration near it. `y` chooses the lane, below the
 * top of the tracks.
 */
export function snapped(timeline: Timeline, x: number, y: number): number {
  const scale = scaleOf(timeline.viewport.window.value, timeline.size.value.width);
  const time: number = scale.time(x);
  let best = time;
  let off = REACH * scale.nsPerPixel;
  for (const edge of edgesNear(timeline, y, time, off)) {
    const distance = Math.abs(edge - time);
    if (distance > off) continue;
    best = edge;
    off = distance;
  }
  return best;
}

function* edgesNear(timeline: Timeline, y: number, time: number, reach: number): Generator<number> {
  for (const { start, dur } of timeline.overview.iterations) yield* [start, start + dur];
  const selected = timeline.selection.current.value?.details;
  if (selected) yield* [selected.start, selected.start + selected.dur];
  const row = y < 0 ? null : rowAt(timeline, y);
  const place = row && laneAt(row, y - cssRowTop(timeline, row));
  if (!place) return;
  const { width } = timeline.size.value;
  for (const { trackTiles } of timeline.tiles.pieces(place.track, timeline.viewport.window.value, width)) {
    yield* edgesOf(trackTiles, place.lane, time, reach);
  }
}

function* edgesOf(trackTiles: TrackTiles, lane: number, time: number, reach: number): Generator<number> {
  const { start: starts, dur } = trackTiles.tiles;
  const last = trackTiles.laneEnd(lane);
  for (let i = trackTiles.firstIn(lane, time - reach); i < last; i++) {
    const start = starts[i] as number;
    if (start > time + reach) return;
    yield start;
    yield start + (dur[i] as number);
  }
}
