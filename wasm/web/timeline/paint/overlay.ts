import { formatDuration } from "../../base/format";
import { lengthOf, type Span } from "../../base/time";
import type { EventRef, Gap } from "../../source/protocol";
import { firstLane, numLanes } from "../row";
import { otherOf, paintArrows } from "./arrows";
import { paintValues } from "./counters";
import { paintPoles } from "./notes";
import type { Pill } from "./pill";
import { type Box, eventBox, fontOf, laneBox, RULER_HEIGHT, type Scene, withClip } from "./scene";

/**
 * Draws the parts that move with the pointer and the selection, on their own canvas. Returns the
 * pills that can be clicked.
 */
export function paintOverlay(context: CanvasRenderingContext2D, scene: Scene, pointer: number | null): readonly Pill[] {
  const { timeline, width, height } = scene;
  context.clearRect(0, 0, width, height);
  paintPoles(context, scene);
  const range = timeline.range.span.value;
  const base = timeline.comparison.base.value;
  const rangeTag = range && paintRange(context, scene, range, base ? "B" : "↔");
  const baseTag = base && paintBase(context, scene, base);
  const gap = timeline.gaps.current.value;
  if (gap) paintGap(context, scene, gap);
  const passing = timeline.notes.passing.value;
  const passingTag = passing && paintPassing(context, scene, passing);
  const pointerTag = pointer === null ? null : paintPointer(context, scene, pointer);
  if (pointer !== null) paintValues(context, scene, pointer);
  paintTags(
    context,
    scene,
    [pointerTag, rangeTag, baseTag, passingTag].filter((tag) => tag !== null),
  );
  paintHover(context, scene);
  return paintSelection(context, scene);
}

function paintHover(context: CanvasRenderingContext2D, scene: Scene): void {
  const hover = scene.timeline.hover.value;
  if (hover) outline(context, scene, hover, { color: scene.look.text, thick: 1, alpha: 0.65 });
}

function paintSelection(context: CanvasRenderingContext2D, scene: Scene): readonly Pill[] {
  const selected = scene.timeline.selection.current.value;
  if (!selected) return [];
  const { details, links } = selected;
  const { selection } = scene.timeline;
  for (const link of links) {
    const other = otherOf(selected, link);
    outline(context, scene, other, {
      color: scene.look.accent,
      thick: selection.isChosen(other.id) ? 2.5 : 1.5,
      alpha: 0.9,
    });
  }
  outline(context, scene, details, { color: scene.look.accent, thick: 2, alpha: 1 });
  return paintArrows(context, scene, selected);
}

interface Stroke {
  readonly color: string;
  readonly thick: number;
  readonly alpha: number;
  /** In CSS pixels. */
  readonly dash?: number;
}

function outline(context: CanvasRenderingContext2D, scene: Scene, event: EventRef, stroke: Stroke): void {
  const box = eventBox(scene, event);
  const row = scene.timeline.layout.value.rowOf.get(event.track);
  if (box && row) outlineBox(context, scene, { ...box, pinned: row.pinned }, stroke);
}

/** Frames an idle time over all lanes of its stream. */
function paintGap(context: CanvasRenderingContext2D, scene: Scene, gap: Gap): void {
  const row = scene.timeline.layout.value.rowOf.get(gap.track);
  const track = row?.tracks.find((own) => own.track === gap.track);
  if (!row || !track) return;
  const lane = firstLane(row, gap.track);
  const { y } = laneBox(scene, row, lane);
  const last = laneBox(scene, row, lane + numLanes(track) - 1);
  const x = Math.round(scene.scale.x(gap.start));
  const width = Math.round(scene.scale.x(gap.start + gap.dur)) - x;
  const box = { x, y, width, height: last.y + last.height - y, pinned: row.pinned };
  outlineBox(context, scene, box, { color: scene.look.accent, thick: 1.5, alpha: 1, dash: 4 });
}

function outlineBox(
  context: CanvasRenderingContext2D,
  scene: Scene,
  box: Box & { pinned: boolean },
  stroke: Stroke,
): void {
  const top = box.pinned ? scene.headerHeight : scene.scrolledTop;
  withClip(context, { x: 0, y: top, width: scene.width, height: scene.height - top }, () => {
    const line = Math.max(1, Math.round(stroke.thick * scene.dpr));
    const left = Math.max(-10, box.x);
    const right = Math.min(scene.width + 10, box.x + Math.max(box.width, 2));
    context.globalAlpha = stroke.alpha;
    context.strokeStyle = stroke.color;
    context.lineWidth = line;
    const dash = (stroke.dash ?? 0) * scene.dpr;
    context.setLineDash(dash ? [dash, dash] : []);
    context.strokeRect(left - line / 2, box.y - line / 2, right - left + line, box.height + line);
    context.globalAlpha = 1;
  });
}

function paintPointer(context: CanvasRenderingContext2D, scene: Scene, x: number): Tag {
  const { look, dpr, height, scale } = scene;
  const at = Math.round(x * dpr);
  context.fillStyle = look.text;
  context.globalAlpha = 0.22;
  context.fillRect(at, Math.round(RULER_HEIGHT * dpr) / 2, Math.max(1, Math.round(dpr)), height);
  context.globalAlpha = 1;
  return {
    x: at,
    text: formatAt(scale.time(x * dpr), lengthOf(scale.window)),
    fill: look.text,
    ink: look.background,
  };
}

/** Formats a time with the digits that a pixel of this window can show. */
function formatAt(time: number, length: number): string {
  if (Math.abs(time) < 1) return "0";
  const digits = Math.ceil(Math.log10(Math.abs(time) / Math.max(1, length / 1000)));
  if (digits <= 4) return formatDuration(time);
  const unit = [
    { ns: 1e9, name: "s" },
    { ns: 1e6, name: "ms" },
    { ns: 1e3, name: "µs" },
  ].find(({ ns }) => Math.abs(time) >= ns) ?? { ns: 1, name: "ns" };
  const whole = Math.floor(Math.log10(Math.abs(time) / unit.ns)) + 1;
  return `${(time / unit.ns).toFixed(Math.max(0, Math.min(digits - whole, Math.log10(unit.ns))))} ${unit.name}`;
}

/** A label on the ruler. */
interface Tag {
  readonly x: number;
  readonly text: string;
  readonly fill: string;
  readonly ink: string;
}

/**
 * Draws labels on the ruler, inside the screen. Earlier ones keep their place; later ones avoid
 * them.
 */
function paintTags(context: CanvasRenderingContext2D, scene: Scene, tags: readonly Tag[]): void {
  const { dpr, width } = scene;
  context.font = fontOf(scene, 10.5, 500);
  context.textBaseline = "middle";
  context.textAlign = "center";
  const gap = 3 * dpr;
  const placed: { left: number; right: number }[] = [];
  for (const { x, text, fill, ink } of tags) {
    const half = context.measureText(text).width / 2 + 5 * dpr;
    const isFree = (middle: number) =>
      middle >= half &&
      middle <= width - half &&
      placed.every(({ left, right }) => middle + half + gap <= left || middle - half - gap >= right);
    const beside = placed.flatMap(({ left, right }) => [left - half - gap, right + half + gap]);
    const wanted = Math.min(width - half, Math.max(half, x));
    const near = [wanted, ...beside].filter(isFree).sort((a, b) => Math.abs(a - wanted) - Math.abs(b - wanted));
    const middle = near[0];
    if (middle === undefined) continue;
    placed.push({ left: middle - half, right: middle + half });
    context.fillStyle = fill;
    context.beginPath();
    context.roundRect(middle - half, 3 * dpr, 2 * half, (RULER_HEIGHT - 6) * dpr, 4 * dpr);
    context.fill();
    context.fillStyle = ink;
    context.fillText(text, middle, (RULER_HEIGHT / 2 + 0.5) * dpr);
  }
}

function paintRange(context: CanvasRenderingContext2D, scene: Scene, range: Span, letter: string): Tag | null {
  const { look, scale, height, width, dpr } = scene;
  const left = Math.round(scale.x(range.start));
  const right = Math.round(scale.x(range.end));
  if (right < 0 || left > width) return null;
  // The outside pales, as in the minimap.
  context.fillStyle = look.background;
  context.globalAlpha = 0.55;
  context.fillRect(0, scene.headerHeight, left, height);
  context.fillRect(right, scene.headerHeight, width - right, height);
  context.fillStyle = look.accent;
  context.globalAlpha = 0.14;
  context.fillRect(left, 0, right - left, Math.round(RULER_HEIGHT * dpr));
  context.globalAlpha = 0.9;
  const thick = Math.max(1, Math.round(1.5 * dpr));
  context.fillRect(left - thick, 0, thick, height);
  context.fillRect(right, 0, thick, height);
  context.globalAlpha = 1;
  const middle = (Math.max(0, left) + Math.min(width, right)) / 2;
  return {
    x: middle,
    text: `${letter} ${formatDuration(lengthOf(range))}`,
    fill: look.accent,
    ink: look.onAccent,
  };
}

/** Draws the bounds of the range that the marked one is compared with. */
function paintBase(context: CanvasRenderingContext2D, scene: Scene, base: Span): Tag | null {
  const { look, scale, height, width, dpr } = scene;
  const left = Math.round(scale.x(base.start));
  const right = Math.round(scale.x(base.end));
  if (right < 0 || left > width) return null;
  const thick = Math.max(1, Math.round(1.5 * dpr));
  context.fillStyle = look.text;
  context.globalAlpha = 0.1;
  context.fillRect(left, 0, right - left, Math.round(RULER_HEIGHT * dpr));
  context.globalAlpha = 0.6;
  for (const x of [left - thick, right]) context.fillRect(x, 0, thick, height);
  context.globalAlpha = 1;
  const middle = (Math.max(0, left) + Math.min(width, right)) / 2;
  return {
    x: middle,
    text: `A ${formatDuration(lengthOf(base))}`,
    fill: look.text,
    ink: look.background,
  };
}

/** Draws a measure across the ruler, with lines from its ends down to the tracks. */
function paintPassing(context: CanvasRenderingContext2D, scene: Scene, { start, end }: Span): Tag | null {
  const { look, scale, height, width, dpr } = scene;
  const left = Math.round(scale.x(start));
  const right = Math.round(scale.x(end));
  if (right < 0 || left > width) return null;
  const thick = Math.max(1, Math.round(dpr));
  const ruler = Math.round(RULER_HEIGHT * dpr);
  context.fillStyle = look.note;
  context.globalAlpha = 0.7;
  for (const x of [left, right]) context.fillRect(x, 0, thick, height);
  context.globalAlpha = 1;
  context.fillRect(left, ruler - 2 * thick, right - left, 2 * thick);
  const middle = (Math.max(0, left) + Math.min(width, right)) / 2;
  return { x: middle, text: formatDuration(end - start), fill: look.note, ink: look.background };
}
