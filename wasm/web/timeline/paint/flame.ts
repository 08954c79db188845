import { css, mix, parseColor } from "../../base/color";
import { colorCode } from "../../base/palette";
import type { Scale } from "../../base/scale";
import type { TextFitter } from "../../base/text";
import { LEVEL_HEIGHT } from "../flame";
import { type FlameTree, NONE } from "../flame-tree";
import type { Look } from "../look";
import { FONT_SIZE } from "./scene";

const MIN_TEXT = 20;
const PADDING = 4;

export interface FlameScene {
  readonly tree: FlameTree;
  readonly look: Look;
  readonly fitter: TextFitter;
  readonly dpr: number;
  /** Device pixels. */
  readonly width: number;
  readonly height: number;
  /** CSS pixels by which the levels are scrolled. */
  readonly scroll: number;
  readonly scale: Scale;
  /** 1 for each name that a search matches; null without a search. */
  readonly hits: Uint8Array | null;
  readonly chosen: number;
  readonly hovered: number;
}

/** Draws the levels that are on the screen. */
export function paintFlame(context: CanvasRenderingContext2D, scene: FlameScene): void {
  const { look, width, height, dpr, scroll, tree } = scene;
  context.fillStyle = look.background;
  context.fillRect(0, 0, width, height);
  context.font = `400 ${FONT_SIZE * dpr}px ${look.fontFamily}`;
  context.textBaseline = "middle";
  const first = Math.floor(scroll / LEVEL_HEIGHT);
  const last = Math.min(tree.levels.length - 1, Math.ceil((scroll + height / dpr) / LEVEL_HEIGHT));
  for (let level = first; level <= last; level++) paintLevel(context, scene, level);
  for (const row of [scene.hovered, scene.chosen]) if (row !== NONE) outline(context, scene, row);
}

/** Draws frames from left to right; of those that begin in one pixel, the first. */
function paintLevel(context: CanvasRenderingContext2D, scene: FlameScene, level: number): void {
  const { tree, scale, width } = scene;
  const rows = tree.levels[level] as Uint32Array;
  let at = tree.firstAfter(level, scale.window.start);
  while (at < rows.length) {
    const row = rows[at] as number;
    const left = Math.max(0, scale.x(tree.start(row)));
    if (left >= width) return;
    const right = Math.min(width, scale.x(tree.end(row)));
    paintFrame(context, scene, row, { left, right, ...levelBox(scene, level) });
    at += 1;
    if (right < Math.floor(left) + 1) at = tree.firstAfter(level, scale.time(Math.floor(left) + 1), at);
  }
}

interface FrameBox {
  readonly left: number;
  readonly right: number;
  readonly y: number;
  readonly height: number;
}

function paintFrame(context: CanvasRenderingContext2D, scene: FlameScene, row: number, box: FrameBox): void {
  const { tree, dpr, look } = scene;
  const { left, right, y, height } = box;
  const gap = right - left > 3 * dpr ? Math.round(dpr) : 0;
  context.fillStyle = fill(scene, row);
  context.fillRect(left, y, Math.max(right - left - gap, 0.75), height);
  if (right - left <= MIN_TEXT * dpr) return;
  const text = scene.fitter.fit(tree.label(row), (right - left) / dpr - 2 * PADDING);
  context.fillStyle = isDimmed(scene, row) ? look.muted : look.palette.text;
  if (text) context.fillText(text, Math.round(left + PADDING * dpr), y + height / 2 + 0.5 * dpr);
}

function levelBox({ dpr, scroll }: FlameScene, level: number): { readonly y: number; readonly height: number } {
  const y = Math.round((level * LEVEL_HEIGHT - scroll) * dpr);
  return { y, height: Math.round(LEVEL_HEIGHT * dpr) - Math.round(dpr) };
}

const isDimmed = ({ hits, tree }: FlameScene, row: number): boolean =>
  hits !== null && hits[tree.frames.name[row] as number] !== 1;

/** The colour of a frame: of its kind, or in a stack of Python frames that of its name. */
function fill(scene: FlameScene, row: number): string {
  const { tree, look } = scene;
  const { palette } = look;
  const code = codeOf(tree, row);
  if (tree.frames.change && !isDimmed(scene, row))
    return changeFill(look, tree.frames.change[row] as number, tree.frames.weight[row] as number);
  if (isDimmed(scene, row)) return palette.dimmed[code] ?? look.band;
  return (tree.frames.library?.[row] === 1 ? palette.merged[code] : palette.fills[code]) ?? look.band;
}

// A smaller part of a weight is no change worth a colour.
const UNCHANGED = 0.02;
const [MORE, LESS] = [parseColor("#e5484d"), parseColor("#3b82f6")];

/** Red for more and blue for less, deeper where the change is larger. */
function changeFill({ background, band }: Look, change: number, weight: number): string {
  const share = weight > 0 ? change / weight : 0;
  const [tone, ground] = [share > 0 ? MORE : LESS, parseColor(background)];
  if (Math.abs(share) < UNCHANGED || !tone || !ground) return band;
  return css(mix(tone, ground, 0.18 + 0.57 * Math.min(1, Math.abs(share))));
}

export function codeOf(tree: FlameTree, row: number): number {
  const [kind, name] = [tree.kind(row), tree.name(row)];
  if (kind === "none") return colorCode("other", "", "kind");
  if (kind === "python" && tree.frames.library?.[row] === 1) return colorCode("python", name, "kind");
  return kind === "python" || kind === "module" ? colorCode(kind, name, "name") : colorCode(kind, name, "kind");
}

function outline(context: CanvasRenderingContext2D, scene: FlameScene, row: number): void {
  const { tree, scale, width, look, dpr } = scene;
  const left = Math.max(0, scale.x(tree.start(row)));
  const right = Math.min(width, scale.x(tree.end(row)));
  if (right <= left) return;
  const { y, height } = levelBox(scene, tree.frames.depth[row] as number);
  const line = Math.round((row === scene.chosen ? 2 : 1) * dpr);
  context.strokeStyle = row === scene.chosen ? look.accent : look.text;
  context.lineWidth = line;
  context.strokeRect(left + line / 2, y + line / 2, Math.max(1, right - left - line), height - line);
}
