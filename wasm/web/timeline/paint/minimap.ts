import { type Scale, scaleOf } from "../../base/scale";
import type { Span } from "../../base/time";
import type { Track } from "../../source/protocol";
import type { Look } from "../look";
import type { Sheet } from "../sheet";
import type { Timeline } from "../timeline";

export interface MinimapScene {
  readonly timeline: Timeline;
  readonly look: Look;
  readonly dpr: number;
  readonly width: number;
  readonly height: number;
}

/** The whole trace, drawn once: a stripe for each track, host above device. */
export function paintWhole(context: CanvasRenderingContext2D, scene: MinimapScene, sheets: readonly Sheet[]): void {
  const { timeline, look, width, height } = scene;
  context.fillStyle = look.background;
  context.fillRect(0, 0, width, height);
  const scale = scaleOf(timeline.viewport.bounds, width);
  const stripe = height / Math.max(1, sheets.length);
  for (const [index, sheet] of sheets.entries()) {
    const top = Math.round(index * stripe);
    const bottom = Math.max(top + 1, Math.round((index + 1) * stripe) - 1);
    paintStripe(context, scene, scale, sheet, { top, height: bottom - top });
  }
}

interface Stripe {
  readonly top: number;
  readonly height: number;
}

function paintStripe(
  context: CanvasRenderingContext2D,
  scene: MinimapScene,
  scale: Scale,
  sheet: Sheet,
  stripe: Stripe,
): void {
  const { tiles } = sheet;
  const { codes } = sheet.colored("kind", scene.timeline.overview.kinds);
  // Lanes come from the outside in: what is left to be seen is the innermost event, which is what was going on.
  for (let i = 0; i < sheet.length; i++) {
    const x = Math.round(scale.x(tiles.start[i] as number));
    const right = Math.round(scale.x((tiles.start[i] as number) + (tiles.dur[i] as number)));
    context.fillStyle = scene.look.palette.fills[codes[i] as number] as string;
    context.fillRect(x, stripe.top, Math.max(1, right - x), stripe.height);
  }
}

/** The tracks worth a stripe: those with most events, in the order of the picture. */
export function minimapTracks(timeline: Timeline, limit: number): readonly Track[] {
  const { tracks } = timeline.overview;
  const busiest = [...tracks].sort((a, b) => b.num_events - a.num_events).slice(0, limit);
  return tracks.filter((track) => busiest.includes(track));
}

/** The frame around what the window shows, the marked range and the hits, over the whole. */
export function paintFrame(context: CanvasRenderingContext2D, scene: MinimapScene): void {
  const { timeline, look, width, height, dpr } = scene;
  const scale = scaleOf(timeline.viewport.bounds, width);
  paintHits(context, scene, scale);
  const { left, right } = edges(scale, timeline.viewport.window.value, dpr);
  context.fillStyle = look.header;
  context.globalAlpha = 0.66;
  context.fillRect(0, 0, left, height);
  context.fillRect(right, 0, width - right, height);
  context.globalAlpha = 1;
  context.fillStyle = look.accent;
  const thick = Math.round(1.5 * dpr);
  context.fillRect(left - thick, 0, thick, height);
  context.fillRect(right, 0, thick, height);
  const range = timeline.range.span.value;
  if (!range) return;
  const marked = edges(scale, range, dpr);
  context.globalAlpha = 0.25;
  context.fillRect(marked.left, 0, marked.right - marked.left, height);
  context.globalAlpha = 1;
}

function paintHits(context: CanvasRenderingContext2D, scene: MinimapScene, scale: Scale): void {
  const hits = scene.timeline.search.found.value?.hits;
  if (!hits) return;
  context.fillStyle = scene.look.hit;
  const tick = Math.max(1, Math.round(scene.dpr));
  for (const start of hits.start) {
    context.fillRect(Math.round(scale.x(start)), scene.height - 5 * tick, tick, 5 * tick);
  }
}

function edges(scale: Scale, window: Span, dpr: number): { left: number; right: number } {
  const left = Math.round(scale.x(window.start));
  return { left, right: Math.max(left + Math.round(2 * dpr), Math.round(scale.x(window.end))) };
}
