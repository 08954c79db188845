import type { EventRef } from "../../source/protocol";
import { type Box, fontOf, type Scene } from "./scene";

/** A small label at the edge for an event off the screen, in device pixels. */
export interface Pill extends Box {
  readonly event: EventRef;
}

export interface PillPlace {
  readonly x: number;
  readonly y: number;
  readonly text: string;
  readonly event: EventRef;
}

const HEIGHT = 18;
const MARGIN = 4;

export function paintPill(context: CanvasRenderingContext2D, scene: Scene, place: PillPlace): Pill {
  const { dpr, look } = scene;
  context.font = fontOf(scene, 10.5, 500);
  context.textBaseline = "middle";
  context.textAlign = "left";
  const box = boxOf(scene, place, context.measureText(place.text).width + 14 * dpr);
  context.fillStyle = look.accent;
  context.beginPath();
  context.roundRect(box.x, box.y, box.width, box.height, box.height / 2);
  context.fill();
  context.fillStyle = look.onAccent;
  context.fillText(place.text, box.x + 7 * dpr, box.y + box.height / 2 + 0.5 * dpr);
  return { ...box, event: place.event };
}

function boxOf(scene: Scene, { x, y }: PillPlace, width: number): Box {
  const height = HEIGHT * scene.dpr;
  const margin = MARGIN * scene.dpr;
  const within = (at: number, low: number, high: number) => Math.max(low, Math.min(high, at));
  return {
    x: within(x - width / 2, margin, scene.width - width - margin),
    y: within(y - height / 2, scene.headerHeight + margin, scene.height - height - margin),
    width,
    height,
  };
}
