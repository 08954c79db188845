import { formatDuration, formatTick } from "../../base/format";
import { type Kind, kindColor } from "../../base/palette";
import { type Ticks, ticksOf } from "../../base/ticks";
import { lengthOf } from "../../base/time";
import { paintFindings } from "./findings";
import { paintNotes } from "./notes";
import { cssIterationsTop, fontOf, RULER_HEIGHT, type Scene } from "./scene";

const TICK_WIDTH = 90;

/** Draws the ruler and the iterations. */
export function paintHeader(context: CanvasRenderingContext2D, scene: Scene): void {
  const { look, width, headerHeight, dpr } = scene;
  context.fillStyle = look.header;
  context.fillRect(0, 0, width, headerHeight);
  paintRuler(context, scene);
  paintNotes(context, scene);
  paintFindings(context, scene);
  if (scene.timeline.overview.iterations.length > 0) paintIterations(context, scene);
  context.fillStyle = look.line;
  context.fillRect(0, headerHeight - Math.round(dpr), width, Math.round(dpr));
}

export const ticksIn = ({ scale, cssWidth }: Pick<Scene, "scale" | "cssWidth">): Ticks =>
  ticksOf(scale.window, cssWidth, TICK_WIDTH);

/** The base of the ruler's labels, for the corner; empty where it is the start. */
export function rulerBase(scene: Pick<Scene, "scale" | "cssWidth">): string {
  const { base } = ticksIn(scene);
  return base === 0 ? "" : `${formatDuration(base)} +`;
}

function paintRuler(context: CanvasRenderingContext2D, scene: Scene): void {
  const { look, scale, dpr } = scene;
  const { base, step, times } = ticksIn(scene);
  context.font = fontOf(scene, 10.5);
  context.textBaseline = "middle";
  context.textAlign = "left";
  const height = Math.round(RULER_HEIGHT * dpr);
  const tick = Math.round(dpr);
  for (const time of times) {
    const x = Math.round(scale.x(time));
    context.fillStyle = look.muted;
    context.globalAlpha = 0.55;
    context.fillRect(x, height - Math.round(7 * dpr), tick, Math.round(7 * dpr));
    context.globalAlpha = 1;
    context.fillText(formatTick(time - base, step), x + Math.round(4 * dpr), height / 2);
  }
}

function paintIterations(context: CanvasRenderingContext2D, scene: Scene): void {
  const { timeline, scale, dpr, width } = scene;
  context.font = fontOf(scene, 10.5);
  for (const [index, iteration] of timeline.overview.iterations.entries()) {
    const left = Math.max(-2, Math.round(scale.x(iteration.start)));
    const right = Math.min(width + 2, Math.round(scale.x(iteration.start + iteration.dur)));
    if (right < 0 || left > width) continue;
    const phase = iteration.phase ?? "";
    const name = phase ? `${phase} · ${iteration.name}` : iteration.name;
    paintIteration(context, scene, { left, right, name, odd: index % 2 === 1, fill: phaseFill(scene, phase) });
  }
  context.fillStyle = scene.look.line;
  context.fillRect(0, Math.round(cssIterationsTop(timeline) * dpr), width, Math.round(dpr));
}

interface Band {
  readonly left: number;
  readonly right: number;
  readonly name: string;
  readonly odd: boolean;
  /** Colour of the phase; null without one. */
  readonly fill: string | null;
}

/** Kinds of events whose colours phases have: a prompt is read, tokens are generated. */
const PHASE_KINDS: Readonly<Record<string, Kind>> = {
  prefill: "launch",
  decode: "operator",
  mixed: "copy",
  draft: "python",
  verify: "kernel",
};

function phaseFill({ look }: Scene, phase: string): string | null {
  const kind = PHASE_KINDS[phase];
  return kind ? kindColor(look.palette, kind) : null;
}

function paintIteration(context: CanvasRenderingContext2D, scene: Scene, band: Band): void {
  const { look, dpr, headerHeight, width } = scene;
  const top = Math.round((cssIterationsTop(scene.timeline) + 2) * dpr);
  const height = headerHeight - top - Math.round(2 * dpr);
  context.fillStyle = band.fill ?? look.accent;
  context.globalAlpha = (band.odd ? 0.2 : 0.12) * (band.fill ? 3 : 1);
  context.fillRect(band.left, top, Math.max(1, band.right - band.left - 1), height);
  context.globalAlpha = 0.75;
  context.fillRect(band.left, top, Math.round(2 * dpr), height);
  context.globalAlpha = 1;
  const left = Math.max(0, band.left);
  const text = scene.fitter.fit(band.name, (Math.min(width, band.right) - left) / dpr - 14);
  context.fillStyle = look.text;
  if (text) context.fillText(text, left + Math.round(7 * dpr), top + height / 2 + Math.round(0.5 * dpr));
}

/** Length of the window, for the corner. */
export const windowLength = (scene: Pick<Scene, "scale">): string => formatDuration(lengthOf(scene.scale.window));
