import { common, type Span, span } from "../../base/time";
import type { Hole } from "../tile-cache";
import { hatchOf } from "./hatch";
import { fontOf, type Lanes, type Scene } from "./scene";

const STRIPE = 12;
const TEXT = "loading…";
const TEXT_WIDTH = 60;
const TEXT_HEIGHT = 18;
const LEAST_HEIGHT = 12;

/**
 * After a long wait, hatches ranges of a track that are loading and have no older tiles. The hatch
 * does not move, so that it does not distract.
 */
export function paintLoading(context: CanvasRenderingContext2D, scene: Scene, { boxes, holes }: Lanes): void {
  const [first] = boxes;
  const last = boxes.at(-1)?.box;
  if (!first || !last || !scene.timeline.waiting.isBusy.value) return;
  const { dpr, look, scale } = scene;
  const { y } = first.box;
  const height = last.y + last.height - y;
  const hatch = { color: look.muted, alpha: 0.3, size: Math.round(STRIPE * dpr), line: dpr, rises: true };
  const fill = hatchOf(context, look, hatch) ?? look.band;
  for (const hole of joined(holes)) {
    const seen = common(hole, scale.window);
    const x = Math.round(scale.x(seen.start));
    const wide = Math.round(scale.x(seen.end)) - x;
    if (wide <= 0) continue;
    context.fillStyle = fill;
    context.fillRect(x, y, wide, height);
    if (height >= LEAST_HEIGHT * dpr && wide >= TEXT_WIDTH * dpr) {
      write(context, scene, x, y + Math.min(height, TEXT_HEIGHT * dpr) / 2);
    }
  }
}

/** Joins ranges that were requested separately. */
function joined(holes: readonly Hole[]): readonly Span[] {
  const all: Span[] = [];
  for (const { span: hole } of holes) {
    const last = all.at(-1);
    if (last?.end === hole.start) all[all.length - 1] = span(last.start, hole.end);
    else all.push(hole);
  }
  return all;
}

function write(context: CanvasRenderingContext2D, scene: Scene, x: number, y: number): void {
  const { dpr, look } = scene;
  context.font = fontOf(scene);
  context.textBaseline = "middle";
  context.textAlign = "left";
  context.lineWidth = 4 * dpr;
  context.strokeStyle = look.background;
  context.strokeText(TEXT, x + 6 * dpr, y);
  context.fillStyle = look.muted;
  context.fillText(TEXT, x + 6 * dpr, y);
}
