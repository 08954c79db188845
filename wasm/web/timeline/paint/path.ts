import type { PathSteps } from "../../source/protocol";
import { firstLane } from "../row";
import { type LaneBox, laneBox, type Scene, withClip } from "./scene";

const BAND = 3;
// In pixels: the farthest end of a line, for an exact canvas.
const FAR = 4000;

/** Draws the critical path: a band along each of its events, and lines between lanes. */
export function paintPath(context: CanvasRenderingContext2D, scene: Scene): void {
  const { timeline, cssWidth, headerHeight, scrolledTop, width, height } = scene;
  if (!timeline.path.isOn.value) return;
  const steps = timeline.path.stepsIn(timeline.viewport.window.value, cssWidth);
  if (!steps) return;
  context.strokeStyle = context.fillStyle = scene.look.path;
  const between = (top: number, bottom: number) => ({ x: 0, y: top, width, height: Math.max(0, bottom - top) });
  withClip(context, between(headerHeight, height), () => paintWays(context, scene, steps));
  withClip(context, between(headerHeight, scrolledTop), () => paintBands(context, scene, steps, true));
  withClip(context, between(scrolledTop, height), () => paintBands(context, scene, steps, false));
}

/** Draws bands on pinned rows, or on rows that scroll. */
function paintBands(context: CanvasRenderingContext2D, scene: Scene, steps: PathSteps, pinned: boolean): void {
  const { rowOf } = scene.timeline.layout.value;
  for (let i = 0; i < steps.track.length; i++) {
    const row = rowOf.get(steps.track[i] as number);
    if (row?.pinned === pinned && !isWay(steps, i)) paintBand(context, scene, steps, i);
  }
}

const isWay = (steps: PathSteps, i: number): boolean =>
  steps.track[i] !== steps.end_track[i] || steps.lane[i] !== steps.end_lane[i];

function paintBand(context: CanvasRenderingContext2D, scene: Scene, steps: PathSteps, i: number): void {
  const box = boxOf(scene, steps.track[i] as number, steps.lane[i] as number);
  if (!box) return;
  const { scale, width, dpr } = scene;
  const left = Math.max(-9, Math.round(scale.x(steps.start[i] as number)));
  const right = Math.min(width + 9, Math.max(left + 1, Math.round(scale.x(steps.end[i] as number))));
  if (right < 0 || left > width) return;
  const band = Math.min(box.height, Math.round(BAND * dpr));
  context.fillRect(left, box.y + box.height - band, right - left, band);
  if (right - left > 4 * dpr && box.height > 8 * dpr) {
    context.lineWidth = Math.max(1, Math.round(dpr));
    context.strokeRect(left + 0.5, box.y + 0.5, right - left - 1, box.height - 1);
  }
}

function paintWays(context: CanvasRenderingContext2D, scene: Scene, steps: PathSteps): void {
  const { scale, width, dpr } = scene;
  context.lineWidth = Math.max(1, dpr);
  context.globalAlpha = 0.7;
  context.beginPath();
  for (let i = 0; i < steps.track.length; i++) {
    if (!isWay(steps, i)) continue;
    const from = boxOf(scene, steps.track[i] as number, steps.lane[i] as number);
    const to = boxOf(scene, steps.end_track[i] as number, steps.end_lane[i] as number);
    const left = Math.max(-FAR, scale.x(steps.start[i] as number));
    const right = Math.min(width + FAR, scale.x(steps.end[i] as number));
    if (!from || !to || right < 0 || left > width) continue;
    context.moveTo(left, from.y + from.height / 2);
    context.lineTo(right, to.y + to.height / 2);
  }
  context.stroke();
  context.globalAlpha = 1;
}

function boxOf(scene: Scene, track: number, lane: number): LaneBox | null {
  const row = scene.timeline.layout.value.rowOf.get(track);
  return row ? laneBox(scene, row, firstLane(row, track) + lane) : null;
}
