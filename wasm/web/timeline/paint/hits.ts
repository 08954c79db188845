import type { Hits } from "../../source/protocol";
import { firstLane, type Row } from "../row";
import { type LaneBox, laneBox, type Scene } from "./scene";

const NARROW = 3;

/** Marks each hit in `row`: a tick where the bar is too narrow to be seen, else a line below it. */
export function paintHits(context: CanvasRenderingContext2D, scene: Scene, row: Row, hits: Hits): void {
  const firsts = new Map(row.tracks.map((track) => [track.track, firstLane(row, track.track)]));
  const { start: from, end: to } = scene.scale.window;
  context.fillStyle = scene.look.hit;
  for (let i = 0; i < hits.id.length; i++) {
    const first = firsts.get(hits.track[i] as number);
    const start = hits.start[i] as number;
    const end = start + (hits.dur[i] as number);
    if (first === undefined || end < from || start > to) continue;
    mark(context, scene, laneBox(scene, row, first + (hits.lane[i] as number)), start, end);
  }
}

function mark(context: CanvasRenderingContext2D, scene: Scene, box: LaneBox, start: number, end: number): void {
  const { dpr, scale, width } = scene;
  const x = Math.max(-2, Math.round(scale.x(start)));
  const right = Math.min(width + 2, Math.round(scale.x(end)));
  const thick = Math.max(1, Math.round(2 * dpr));
  if (right - x < NARROW * dpr) context.fillRect(x, box.y, thick, box.height);
  else context.fillRect(x, box.y + box.height - thick, right - x - 1, thick);
}
