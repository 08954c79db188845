import { kindColor } from "../../base/palette";
import type { Counter } from "../../source/protocol";
import { readValue, stepAt } from "../counters";
import { type Row, rowsBetween } from "../row";
import { cssRowTop, fontOf, type Scene, withClip } from "./scene";

const AIR = 4;

/** Draws a counter: filled up to the last value, paler up to the maximum within a pixel. */
export function paintCounter(context: CanvasRenderingContext2D, scene: Scene, row: Row, counter: Counter): void {
  const { timeline, scale, width, look, cssWidth } = scene;
  const steps = timeline.counters.stepsIn(counter.counter, timeline.viewport.window.value, cssWidth);
  if (!steps) return;
  const place = placeOf(scene, row, counter);
  const base = place(0);
  const first = Math.max(0, stepAt(steps, scale.window.start));
  context.fillStyle = kindColor(look.palette, counter.unit === "bytes" ? "copy" : "kernel");
  for (let i = first; i < steps.start.length && (steps.start[i] as number) < scale.window.end; i++) {
    const left = Math.max(0, Math.round(scale.x(steps.start[i] as number)));
    const end = Math.round(scale.x(steps.start[i + 1] ?? steps.until));
    const bar = (value: number, wide: number) => {
      const y = place(value);
      context.fillRect(left, Math.min(y, base), Math.max(1, wide), Math.max(1, Math.abs(base - y)));
    };
    const last = steps.last[i] as number;
    context.globalAlpha = 0.45;
    if ((steps.greatest[i] as number) !== last) bar(steps.greatest[i] as number, 1);
    context.globalAlpha = 1;
    bar(last, Math.min(width, end) - left);
  }
}

/** Converts values to device pixels, limited to the row. */
function placeOf(scene: Scene, row: Row, { least, greatest }: Counter): (value: number) => number {
  const top = (scene.cssHeaderHeight + cssRowTop(scene.timeline, row) + AIR) * scene.dpr;
  const bottom = top + (row.height - AIR - 2) * scene.dpr;
  const [low, high] = [Math.min(0, least), Math.max(0, greatest)];
  const perUnit = (bottom - top) / (high - low || 1);
  return (value) => Math.round(bottom - (value - low) * perUnit);
}

/** Writes the value of each counter at the pointer. */
export function paintValues(context: CanvasRenderingContext2D, scene: Scene, pointer: number): void {
  const { timeline, scale, dpr, cssWidth, scrolledTop: top, width, height } = scene;
  if (timeline.counters.shown.value.length === 0) return;
  const { scrolled } = timeline.layout.value;
  const { scroll, window } = timeline.viewport;
  const time = scale.time(pointer * dpr);
  withClip(context, { x: 0, y: top, width, height: Math.max(0, height - top) }, () => {
    for (const row of rowsBetween(scrolled, scroll.value, scroll.value + height / dpr)) {
      const steps = row.counter && timeline.counters.stepsIn(row.counter.counter, window.value, cssWidth);
      const at = steps && time <= steps.until ? stepAt(steps, time) : -1;
      if (row.counter && steps && at >= 0) {
        paintValue(context, scene, row, { pointer, text: readValue(steps.last[at] as number, row.counter.unit) });
      }
    }
  });
}

interface Value {
  readonly pointer: number;
  readonly text: string;
}

function paintValue(context: CanvasRenderingContext2D, scene: Scene, row: Row, { pointer, text }: Value): void {
  const { dpr, look, cssWidth, timeline } = scene;
  context.font = fontOf(scene, 10.5, 600);
  context.textBaseline = "middle";
  const toLeft = pointer > cssWidth - 90;
  context.textAlign = toLeft ? "right" : "left";
  const x = (pointer + (toLeft ? -6 : 6)) * dpr;
  const y = (scene.cssHeaderHeight + cssRowTop(timeline, row) + 12) * dpr;
  context.lineWidth = 3 * dpr;
  context.strokeStyle = look.background;
  context.strokeText(text, x, y);
  context.fillStyle = look.text;
  context.fillText(text, x, y);
}
