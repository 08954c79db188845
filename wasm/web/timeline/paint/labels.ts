import type { Piece } from "../tile-cache";
import { fontOf, type LaneBox, type Lanes, type Scene } from "./scene";

const MIN_WIDTH = 22;
const MIN_LANE = 12;
const PADDING = 4;

/**
 * Writes names into the bars that have room. A bar that begins off the screen has its name at the
 * edge.
 */
export function paintLabels(context: CanvasRenderingContext2D, scene: Scene, drawn: readonly Lanes[]): void {
  // Set once for all tracks: setting a font makes the browser update its styles.
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

interface LabelLane {
  readonly lane: number;
  readonly box: LaneBox;
  /** Whether no earlier piece has written names of bars that begin before it. */
  readonly isFirst: boolean;
}

function labelLane(
  context: CanvasRenderingContext2D,
  scene: Scene,
  piece: Piece,
  { lane, box, isFirst }: LabelLane,
): void {
  const { scale, dpr, width, timeline, look } = scene;
  const { trackTiles, span } = piece;
  const { start: starts, dur: durs, count: counts } = trackTiles.tiles;
  const hits = timeline.search.hitsIn(trackTiles);
  const shortest = MIN_WIDTH * dpr * scale.nsPerPixel;
  const last = Math.min(span.end, scale.window.end);
  const end = trackTiles.laneEnd(lane);
  for (let i = trackTiles.firstIn(lane, Math.max(scale.window.start, span.start)); i < end; i++) {
    const start = starts[i] as number;
    if (start >= last) return;
    const dur = durs[i] as number;
    if (dur < shortest || counts[i] !== 1 || (start < span.start && !isFirst)) continue;
    const left = Math.max(0, scale.x(start));
    const right = Math.min(width, scale.x(start + dur));
    if (right - left < MIN_WIDTH * dpr) continue;
    context.fillStyle = !hits || hits[i] === 1 ? look.palette.text : look.muted;
    write(context, scene, trackTiles.label(i), { left, right, box });
  }
}

interface LabelBox {
  readonly left: number;
  readonly right: number;
  readonly box: LaneBox;
}

function write(context: CanvasRenderingContext2D, scene: Scene, label: string, { left, right, box }: LabelBox): void {
  const { dpr } = scene;
  const text = scene.fitter.fit(label, (right - left) / dpr - 2 * PADDING);
  if (text) context.fillText(text, Math.round(left + PADDING * dpr), Math.round(box.y + box.height / 2 + 0.5 * dpr));
}
