import { formatDuration } from "../../base/format";
import type { EventRef, Link } from "../../source/protocol";
import type { Selected } from "../selection";
import { type Pill, paintPill } from "./pill";
import { type Box, eventBox, type Scene, withClip } from "./scene";

// An operator may own thousands of kernels; more curves would only blacken the picture.
const MOST_ARROWS = 60;
const MOST_PILLS = 4;
// In pixels: far enough to leave the screen at the right angle, near enough for an exact canvas.
const FAR = 4000;

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Draws the links of the selected event, and returns a pill for each partner off the screen. */
export function paintArrows(context: CanvasRenderingContext2D, scene: Scene, selected: Selected): readonly Pill[] {
  const links = selected.links.slice(0, MOST_ARROWS);
  const area = { x: 0, y: scene.headerHeight, width: scene.width, height: scene.height - scene.headerHeight };
  withClip(context, area, () => {
    for (const link of links) paintArrow(context, scene, link, thickness(scene, otherOf(selected, link)));
  });
  const pills: Pill[] = [];
  for (const link of links) {
    if (pills.length >= MOST_PILLS) break;
    const pill = pillOf(context, scene, selected, link);
    if (pill) pills.push(pill);
  }
  return pills;
}

/** The chosen link is thicker. */
const thickness = ({ timeline }: Scene, { id }: EventRef): number => (timeline.selection.isChosen(id) ? 3 : 1.5);

/** The event at the other end of a link. */
export const otherOf = ({ details }: Selected, { source, target }: Link): EventRef =>
  source.id === details.id ? target : source;

function paintArrow(context: CanvasRenderingContext2D, scene: Scene, link: Link, thick: number): void {
  const source = eventBox(scene, link.source);
  const target = eventBox(scene, link.target);
  if (!source || !target) return;
  const ends = endsOf(scene, source, target);
  context.strokeStyle = context.fillStyle = scene.look.accent;
  context.lineWidth = thick * scene.dpr;
  context.setLineDash(link.confidence < 1 ? [5 * scene.dpr, 3 * scene.dpr] : []);
  curve(context, scene, ends);
  context.setLineDash([]);
  head(context, scene, ends.to);
}

interface Ends {
  readonly from: Point;
  readonly to: Point;
  /** Horizontal length of the curve's ends. */
  readonly bend: number;
}

function endsOf(scene: Scene, source: Box, target: Box): Ends {
  const middle = (box: Box) => box.y + box.height / 2;
  // A source that still runs when its target starts would draw its arrow backwards.
  const x = Math.min(source.x + source.width, Math.max(source.x, target.x));
  const within = (at: number) => Math.max(-FAR, Math.min(scene.width + FAR, at));
  const from = { x: within(x), y: middle(source) };
  const to = { x: within(target.x), y: middle(target) };
  const bend = Math.max(14 * scene.dpr, Math.min(90 * scene.dpr, Math.abs(to.x - from.x) / 2));
  return { from, to, bend };
}

function curve(context: CanvasRenderingContext2D, scene: Scene, { from, to, bend }: Ends): void {
  const end = to.x - 5 * scene.dpr;
  context.beginPath();
  context.moveTo(from.x, from.y);
  context.bezierCurveTo(from.x + bend, from.y, end - bend, to.y, end, to.y);
  context.stroke();
}

function head(context: CanvasRenderingContext2D, scene: Scene, { x, y }: Point): void {
  const size = 5 * scene.dpr;
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x - 1.5 * size, y - size * 0.8);
  context.lineTo(x - 1.5 * size, y + size * 0.8);
  context.fill();
}

function pillOf(context: CanvasRenderingContext2D, scene: Scene, selected: Selected, link: Link): Pill | null {
  const other = otherOf(selected, link);
  const box = eventBox(scene, other);
  if (!box || isVisible(scene, other, box)) return null;
  const text = `${direction(scene, box)} ${scene.fitter.fit(other.label, 180)} · ${gap(selected.details, other)}`;
  return paintPill(context, scene, { x: box.x + box.width / 2, y: box.y + box.height / 2, text, event: other });
}

function isVisible(scene: Scene, event: EventRef, box: Box): boolean {
  const row = scene.timeline.layout.value.rowOf.get(event.track);
  const top = row?.pinned ? scene.headerHeight : scene.scrolledTop;
  return box.x < scene.width && box.x + box.width > 0 && box.y + box.height > top && box.y < scene.height;
}

function direction(scene: Scene, box: Box): string {
  if (box.x >= scene.width) return "→";
  if (box.x + box.width <= 0) return "←";
  return box.y >= scene.height ? "↓" : "↑";
}

function gap(from: EventRef, to: EventRef): string {
  const ns = to.start - from.start;
  return `${formatDuration(Math.abs(ns))} ${ns < 0 ? "earlier" : "later"}`;
}
