import { scaleOf } from "../base/scale";
import { rowAt } from "./hit-test";
import { cssRowTop } from "./paint/scene";
import { laneAt } from "./row";
import type { Sheet } from "./sheet";
import type { Timeline } from "./timeline";

/** CSS pixels within which an edge pulls. */
const REACH = 7;

/** The time at `x`, or the edge of an event or an iteration near it: of the lane at `y` below the top of the tracks, if there is one. */
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
  for (const { sheet } of timeline.tiles.pieces(place.track, timeline.viewport.window.value, width)) {
    yield* edgesOf(sheet, place.lane, time, reach);
  }
}

function* edgesOf(sheet: Sheet, lane: number, time: number, reach: number): Generator<number> {
  const { start: starts, dur } = sheet.tiles;
  const last = sheet.laneEnd(lane);
  for (let i = sheet.firstIn(lane, time - reach); i < last; i++) {
    const start = starts[i] as number;
    if (start > time + reach) return;
    yield start;
    yield start + (dur[i] as number);
  }
}
