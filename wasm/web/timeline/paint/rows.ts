import { ticksOf } from "../../base/ticks";
import { type Row, rowsBetween } from "../row";
import { paintBars } from "./bars";
import { paintHits } from "./hits";
import { paintLabels } from "./labels";
import { cssRowTop, type Scene, withClip } from "./scene";

/** Draws everything below the header. */
export function paintRows(context: CanvasRenderingContext2D, scene: Scene): void {
  const { timeline, headerHeight, width, height, dpr } = scene;
  const { pinned, pinnedHeight, scrolled } = timeline.layout.value;
  const border = headerHeight + Math.round(pinnedHeight * dpr);
  const scroll = timeline.viewport.scroll.value;
  const cssHeight = height / dpr - scene.cssHeaderHeight;
  const shown = rowsBetween(scrolled, scroll, scroll + cssHeight - pinnedHeight);
  withClip(context, { x: 0, y: border, width, height: Math.max(0, height - border) }, () => {
    for (const row of shown) paintRow(context, scene, row);
  });
  if (pinned.length === 0) return;
  withClip(context, { x: 0, y: headerHeight, width, height: border - headerHeight }, () => {
    for (const row of pinned) paintRow(context, scene, row);
  });
  context.fillStyle = scene.look.accent;
  context.globalAlpha = 0.5;
  context.fillRect(0, border - Math.round(dpr), width, Math.round(dpr));
  context.globalAlpha = 1;
}

function paintRow(context: CanvasRenderingContext2D, scene: Scene, row: Row): void {
  paintGround(context, scene, row);
  const { timeline } = scene;
  for (const track of row.tracks) {
    const sheet = timeline.tiles.sheet(track.track, timeline.viewport.window.value, scene.cssWidth);
    if (!sheet) continue;
    paintBars(context, scene, row, sheet);
    paintLabels(context, scene, row, sheet);
  }
  if (timeline.search.found.value) paintHits(context, scene, row, timeline.search.found.value.hits);
}

function paintGround(context: CanvasRenderingContext2D, scene: Scene, row: Row): void {
  const { look, dpr, width } = scene;
  const top = Math.round((scene.cssHeaderHeight + cssRowTop(scene.timeline, row)) * dpr);
  const bottom = Math.round((scene.cssHeaderHeight + cssRowTop(scene.timeline, row) + row.height) * dpr);
  context.fillStyle = row.kind === "group" ? look.header : look.background;
  context.fillRect(0, top, width, bottom - top);
  if (row.kind === "track") paintGrid(context, scene, top, bottom);
  context.fillStyle = look.line;
  context.fillRect(0, bottom - Math.round(dpr), width, Math.round(dpr));
}

function paintGrid(context: CanvasRenderingContext2D, scene: Scene, top: number, bottom: number): void {
  const { times } = ticksOf(scene.scale.window, scene.cssWidth, 90);
  context.fillStyle = scene.look.band;
  for (const time of times) context.fillRect(Math.round(scene.scale.x(time)), top, Math.round(scene.dpr), bottom - top);
}
