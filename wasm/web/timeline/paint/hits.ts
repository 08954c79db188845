import { firstLane, type Row } from "../row";
import type { Found } from "../search";
import { type LaneBox, laneBox, type Scene } from "./scene";

const NARROW = 3;

/** Marks each hit in `row`: a tick where the bar is too narrow to be seen, else a line below it. */
export function paintHits(context: CanvasRenderingContext2D, scene: Scene, row: Row, { hits, byTrack }: Found): void {
  const { start: from, end: to } = scene.scale.window;
  context.fillStyle = scene.look.hit;
  for (const { track } of row.tracks) {
    const first = firstLane(row, track);
    for (const i of byTrack.get(track) ?? []) {
      const start = hits.start[i] as number;
      const end = start + (hits.dur[i] as number);
      if (end < from || start > to) continue;
      mark(context, scene, laneBox(scene, row, first + (hits.lane[i] as number)), start, end);
    }
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
