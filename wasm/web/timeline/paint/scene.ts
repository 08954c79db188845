import { type Scale, scaleOf } from "../../base/scale";
import type { TextFitter } from "../../base/text";
import type { EventRef, Track } from "../../source/protocol";
import type { Look } from "../look";
import { firstLane, numLanes, type Row } from "../row";
import type { Hole, Piece } from "../tile-cache";
import type { Timeline } from "../timeline";
import type { Strip } from "./strip";

export const RULER_HEIGHT = 24;
export const NOTES_HEIGHT = 18;
export const ITERATIONS_HEIGHT = 18;
export const FINDINGS_HEIGHT = 19;
export const FONT_SIZE = 11;

/** Pixels of bars, reused from frame to frame. */
export interface Strips {
  readonly pinned: Strip;
  readonly scrolled: Strip;
}

/**
 * Everything that painters need for a picture. Lengths are device pixels unless the name says
 * `css`.
 */
export interface Scene {
  readonly timeline: Timeline;
  readonly look: Look;
  readonly fitter: TextFitter;
  readonly strips: Strips;
  readonly dpr: number;
  readonly cssWidth: number;
  readonly width: number;
  readonly height: number;
  /** Ruler and iterations, above the tracks. */
  readonly headerHeight: number;
  readonly cssHeaderHeight: number;
  /** Top of the tracks that scroll, below pinned ones. */
  readonly scrolledTop: number;
  /** Between time and device pixels. */
  readonly scale: Scale;
}

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface SceneSize {
  readonly cssWidth: number;
  readonly cssHeight: number;
  readonly dpr: number;
}

/** Top of the findings, below ruler and notes. */
export const cssFindingsTop = (timeline: Timeline): number =>
  RULER_HEIGHT + (timeline.notes.all.value.length > 0 ? NOTES_HEIGHT : 0);

/** Top of the iterations, below notes and findings. */
export const cssIterationsTop = (timeline: Timeline): number =>
  cssFindingsTop(timeline) + (timeline.findings.hasMarkers ? FINDINGS_HEIGHT : 0);

export const cssHeaderHeight = (timeline: Timeline): number =>
  cssIterationsTop(timeline) + (timeline.overview.iterations.length > 0 ? ITERATIONS_HEIGHT : 0);

/** Parts that are reused from scene to scene. */
export interface Tools {
  readonly fitter: TextFitter;
  readonly strips: Strips;
}

export function sceneOf(timeline: Timeline, look: Look, tools: Tools, size: SceneSize): Scene {
  const { cssWidth, cssHeight, dpr } = size;
  const width = Math.round(cssWidth * dpr);
  const header = cssHeaderHeight(timeline);
  const headerHeight = Math.round(header * dpr);
  return {
    timeline,
    look,
    ...tools,
    dpr,
    cssWidth,
    width,
    height: Math.round(cssHeight * dpr),
    headerHeight,
    cssHeaderHeight: header,
    scrolledTop: headerHeight + Math.round(timeline.layout.value.pinnedHeight * dpr),
    scale: scaleOf(timeline.viewport.window.value, width),
  };
}

/** CSS pixels from the top of the tracks to the top of `row`, as scrolled. */
export function cssRowTop(timeline: Timeline, row: Row): number {
  if (row.pinned) return row.top;
  return timeline.layout.value.pinnedHeight + row.top - timeline.viewport.scroll.value;
}

export interface LaneBox {
  readonly y: number;
  readonly height: number;
}

/** Position of a lane of `row` on the canvas. */
export function laneBox(scene: Scene, row: Row, lane: number): LaneBox {
  const css = scene.cssHeaderHeight + cssRowTop(scene.timeline, row) + row.laneTop + lane * row.laneHeight;
  const y = Math.round(css * scene.dpr);
  const end = Math.round((css + row.laneHeight) * scene.dpr);
  const gap = row.laneHeight >= 6 ? Math.max(1, Math.round(scene.dpr)) : 0;
  return { y, height: Math.max(1, end - y - gap) };
}

/** The drawn part of a track: its tiles, in the visible lanes. */
export interface Lanes {
  readonly row: Row;
  readonly pieces: readonly Piece[];
  readonly holes: readonly Hole[];
  readonly boxes: readonly { readonly lane: number; readonly box: LaneBox }[];
}

export function lanesOf(scene: Scene, row: Row, track: Track): Lanes {
  const { tiles, viewport } = scene.timeline;
  const first = firstLane(row, track.track);
  const boxes = Array.from({ length: numLanes(track) }, (_, lane) => ({
    lane,
    box: laneBox(scene, row, first + lane),
  }));
  const pieces = tiles.pieces(track.track, viewport.window.value, scene.cssWidth);
  return {
    row,
    pieces,
    holes: tiles.holes(track.track),
    boxes: boxes.filter(({ box }) => box.y + box.height > scene.headerHeight && box.y < scene.height),
  };
}

/** Position of an event on the canvas; null if its track is not drawn. */
export function eventBox(scene: Scene, event: EventRef): Box | null {
  const row = scene.timeline.layout.value.rowOf.get(event.track);
  if (!row) return null;
  const { y, height } = laneBox(scene, row, firstLane(row, event.track) + event.lane);
  const x = Math.round(scene.scale.x(event.start));
  const right = Math.round(scene.scale.x(event.start + event.dur));
  return { x, y, width: Math.max(1, right - x), height };
}

export const fontOf = (scene: Scene, size = FONT_SIZE, weight = 400): string =>
  `${weight} ${size * scene.dpr}px ${scene.look.fontFamily}`;

export function withClip(context: CanvasRenderingContext2D, box: Box, paint: () => void): void {
  context.save();
  context.beginPath();
  context.rect(box.x, box.y, box.width, box.height);
  context.clip();
  paint();
  context.restore();
}
