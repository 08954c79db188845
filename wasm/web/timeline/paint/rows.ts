import { type Row, rowsBetween } from "../row";
import { paintBars } from "./bars";
import { paintChanges } from "./changes";
import { paintCounter } from "./counters";
import { ticksIn } from "./header";
import { paintHits } from "./hits";
import { paintLabels } from "./labels";
import { paintLoading } from "./loading";
import { cssRowTop, lanesOf, type Scene, withClip } from "./scene";
import type { Strip } from "./strip";

/** Draws everything below the header. */
export function paintRows(context: CanvasRenderingContext2D, scene: Scene): void {
  const { timeline, headerHeight, width, height, dpr, scrolledTop: border } = scene;
  const { pinned, pinnedHeight, scrolled } = timeline.layout.value;
  const scroll = timeline.viewport.scroll.value;
  const cssHeight = height / dpr - scene.cssHeaderHeight;
  const shown = rowsBetween(scrolled, scroll, scroll + cssHeight - pinnedHeight);
  const box = { x: 0, y: border, width, height: Math.max(0, height - border) };
  withClip(context, box, () => paintPart(context, scene, shown, scene.strips.scrolled));
  if (pinned.length === 0) return;
  const top = { x: 0, y: headerHeight, width, height: border - headerHeight };
  withClip(context, top, () => paintPart(context, scene, pinned, scene.strips.pinned));
  context.fillStyle = scene.look.accent;
  context.globalAlpha = 0.5;
  context.fillRect(0, border - Math.round(dpr), width, Math.round(dpr));
  context.globalAlpha = 1;
}

function paintPart(context: CanvasRenderingContext2D, scene: Scene, rows: readonly Row[], strip: Strip): void {
  const { timeline } = scene;
  const marks = timeline.search.marksIn(timeline.viewport.window.value, scene.cssWidth);
  const drawn = rows.flatMap((row) => row.tracks.map((track) => lanesOf(scene, row, track)));
  const { times } = ticksIn(scene);
  for (const row of rows) paintGround(context, scene, row, times);
  for (const row of rows) if (row.counter) paintCounter(context, scene, row, row.counter);
  for (const lanes of drawn) paintLoading(context, scene, lanes);
  strip.begin(scene.width);
  for (const lanes of drawn) paintBars(strip, scene, lanes);
  strip.draw(context);
  for (const lanes of drawn) paintChanges(context, scene, lanes);
  paintLabels(context, scene, drawn);
  if (marks) for (const row of rows) paintHits(context, scene, row, marks);
}

function paintGround(context: CanvasRenderingContext2D, scene: Scene, row: Row, times: readonly number[]): void {
  const { look, dpr, width, scale } = scene;
  const top = Math.round((scene.cssHeaderHeight + cssRowTop(scene.timeline, row)) * dpr);
  const bottom = Math.round((scene.cssHeaderHeight + cssRowTop(scene.timeline, row) + row.height) * dpr);
  context.fillStyle = row.kind === "group" ? look.header : look.background;
  context.fillRect(0, top, width, bottom - top);
  context.fillStyle = look.band;
  if (row.kind !== "group")
    for (const time of times) context.fillRect(Math.round(scale.x(time)), top, Math.round(dpr), bottom - top);
  context.fillStyle = look.line;
  context.fillRect(0, bottom - Math.round(dpr), width, Math.round(dpr));
}
