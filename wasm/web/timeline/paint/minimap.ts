import type { ColorBy, Kind, Palette } from "../../base/palette";
import { type Scale, scaleOf } from "../../base/scale";
import type { Span } from "../../base/time";
import type { Look } from "../look";
import type { Timeline } from "../timeline";
import type { TrackTiles } from "../track-tiles";
import { Strip } from "./strip";

export interface MinimapScene {
  readonly timeline: Timeline;
  readonly look: Look;
  readonly dpr: number;
  readonly width: number;
  readonly height: number;
}

/** Draws the whole trace once: a stripe per track, host above device, with hits below. */
export function paintWhole(
  context: CanvasRenderingContext2D,
  scene: MinimapScene,
  allTiles: readonly TrackTiles[],
): void {
  const { timeline, look, width, height } = scene;
  context.fillStyle = look.background;
  context.fillRect(0, 0, width, height);
  const scale = scaleOf(timeline.viewport.bounds, width);
  const stripe = height / Math.max(1, allTiles.length);
  const strip = new Strip();
  strip.begin(width);
  for (const [index, trackTiles] of allTiles.entries()) {
    const y = Math.round(index * stripe);
    const bottom = Math.max(y + 1, Math.round((index + 1) * stripe) - 1);
    paintStripe(
      { strip, palette: look.palette, scale, by: timeline.colorBy.value },
      { y, height: bottom - y },
      trackTiles,
      timeline.overview.kinds,
    );
  }
  strip.draw(context);
  paintHits(context, scene, scale);
}

/** Where a stripe is drawn. */
export interface StripePlace {
  readonly strip: Strip;
  readonly palette: Palette;
  readonly scale: Scale;
  readonly by: ColorBy;
}

/** Draws all lanes of a track as one. */
export function paintStripe(
  { strip, palette, scale, by }: StripePlace,
  box: { readonly y: number; readonly height: number },
  trackTiles: TrackTiles,
  kinds: readonly Kind[],
): void {
  const { start, dur } = trackTiles.tiles;
  const line = strip.line(box);
  const codes = trackTiles.colored(by, kinds);
  const { fills } = palette.pixels;
  // Inner lanes come last, so the innermost event stays visible.
  for (let i = 0; i < trackTiles.length; i++) {
    const x = Math.round(scale.x(start[i] as number));
    const right = Math.round(scale.x((start[i] as number) + (dur[i] as number)));
    strip.fill(
      line,
      Math.max(0, x),
      Math.min(scale.width, Math.max(x + 1, right)),
      fills[codes[i] as number] as number,
    );
  }
}

/** Draws the frame around the visible part and the marked range. */
export function paintFrame(context: CanvasRenderingContext2D, scene: MinimapScene): void {
  const { timeline, look, width, height, dpr } = scene;
  const scale = scaleOf(timeline.viewport.bounds, width);
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
  const { search, viewport } = scene.timeline;
  const hits = search.marksOf(viewport.bounds, scene.width);
  if (!hits) return;
  context.fillStyle = scene.look.hit;
  const tick = Math.max(1, Math.round(scene.dpr));
  for (const start of hits.marks.start) {
    context.fillRect(Math.round(scale.x(start)), scene.height - 5 * tick, tick, 5 * tick);
  }
}

function edges(scale: Scale, window: Span, dpr: number): { left: number; right: number } {
  const left = Math.round(scale.x(window.start));
  return { left, right: Math.max(left + Math.round(2 * dpr), Math.round(scale.x(window.end))) };
}
