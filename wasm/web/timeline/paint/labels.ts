import type { Piece } from "../tile-cache";
import { fontOf, type LaneBox, type Lanes, type Scene } from "./scene";

const MIN_WIDTH = 22;
const MIN_LANE = 12;
const PADDING = 4;

/** Writes the names into the bars that have room for them. A bar that begins off the screen has its name at the edge. */
export function paintLabels(context: CanvasRenderingContext2D, scene: Scene, drawn: readonly Lanes[]): void {
  // Once for all tracks: whenever a font is set, the browser brings its styles up to date.
  context.font = fontOf(scene);
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (const { row, boxes, pieces } of drawn) {
    if (row.laneHeight < MIN_LANE) continue;
    for (const { lane, box } of boxes) {
      for (const [index, piece] of pieces.entries())
        labelLane(context, scene, piece, { lane, box, isFirst: index === 0 });
    }
  }
}

interface Lane {
  readonly lane: number;
  readonly box: LaneBox;
  /** No piece before this one has written the names of bars that begin before it. */
  readonly isFirst: boolean;
}

function labelLane(context: CanvasRenderingContext2D, scene: Scene, piece: Piece, { lane, box, isFirst }: Lane): void {
  const { scale, dpr, width, timeline, look } = scene;
  const { sheet, span } = piece;
  const { start: starts, dur: durs, count: counts } = sheet.tiles;
  const hits = timeline.search.hitsIn(sheet);
  const shortest = MIN_WIDTH * dpr * scale.nsPerPixel;
  const last = Math.min(span.end, scale.window.end);
  const end = sheet.laneEnd(lane);
  for (let i = sheet.firstIn(lane, Math.max(scale.window.start, span.start)); i < end; i++) {
    const start = starts[i] as number;
    if (start >= last) return;
    const dur = durs[i] as number;
    if (dur < shortest || counts[i] !== 1 || (start < span.start && !isFirst)) continue;
    const left = Math.max(0, scale.x(start));
    const right = Math.min(width, scale.x(start + dur));
    if (right - left < MIN_WIDTH * dpr) continue;
    context.fillStyle = !hits || hits[i] === 1 ? look.palette.text : look.muted;
    write(context, scene, sheet.label(i), { left, right, box });
  }
}

interface Place {
  readonly left: number;
  readonly right: number;
  readonly box: LaneBox;
}

function write(context: CanvasRenderingContext2D, scene: Scene, label: string, { left, right, box }: Place): void {
  const { dpr } = scene;
  const text = scene.fitter.fit(label, (right - left) / dpr - 2 * PADDING);
  if (text) context.fillText(text, Math.round(left + PADDING * dpr), Math.round(box.y + box.height / 2 + 0.5 * dpr));
}
