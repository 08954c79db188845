import type { MarksByLane } from "../marks";
import { firstLane, numLanes, type Row } from "../row";
import { laneBox, type Scene } from "./scene";

const NARROW = 3;
// Ticks side by side would hide the events.
const MANY = 12;

/**
 * Marks each hit in `row`: with a tick where the bar is too narrow to see, else with a line below.
 */
export function paintHits(context: CanvasRenderingContext2D, scene: Scene, row: Row, marks: MarksByLane): void {
  context.fillStyle = scene.look.hit;
  for (const track of row.tracks) {
    const first = firstLane(row, track.track);
    for (let lane = 0; lane < numLanes(track); lane++) {
      paintLane(context, scene, marks, { track: track.track, lane, ...laneBox(scene, row, first + lane) });
    }
  }
}

interface HitLane {
  readonly track: number;
  readonly lane: number;
  readonly y: number;
  readonly height: number;
}

function paintLane(context: CanvasRenderingContext2D, scene: Scene, marks: MarksByLane, lane: HitLane): void {
  const { dpr, scale, width } = scene;
  const { y, height } = lane;
  const thick = Math.max(1, Math.round(2 * dpr));
  // Adjacent ticks become one rectangle: thousands would delay the frame.
  let [from, to] = [0, 0];
  const flush = () => {
    const high = to - from < MANY * dpr ? height : thick;
    if (to > from) context.fillRect(from, y + height - high, to - from, high);
  };
  marks.within(lane.track, lane.lane, scale.window, (start, end) => {
    const x = Math.max(-2, Math.round(scale.x(start)));
    const right = Math.min(width + 2, Math.round(scale.x(end)));
    if (right - x >= NARROW * dpr) return context.fillRect(x, y + height - thick, right - x - 1, thick);
    if (x > to) {
      flush();
      from = x;
    }
    to = x + thick;
  });
  flush();
}
