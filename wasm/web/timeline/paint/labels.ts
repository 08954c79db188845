import type { Row } from "../row";
import type { Sheet } from "../sheet";
import { laneBoxes } from "./bars";
import { fontOf, type LaneBox, type Scene } from "./scene";

const MIN_WIDTH = 22;
const MIN_LANE = 12;
const PADDING = 4;

/** Writes the names into the bars that have room for them. A bar that begins off the screen has its name at the edge. */
export function paintLabels(context: CanvasRenderingContext2D, scene: Scene, row: Row, sheet: Sheet): void {
  if (row.laneHeight < MIN_LANE) return;
  const { scale, dpr, width, timeline } = scene;
  const { tiles } = sheet;
  const boxes = laneBoxes(scene, row, sheet);
  const hits = timeline.search.found.value?.ids ?? null;
  const shortest = MIN_WIDTH * dpr * scale.nsPerPixel;
  prepare(context, scene);
  for (let i = 0; i < sheet.length; i++) {
    const dur = tiles.dur[i] as number;
    if (dur < shortest || tiles.count[i] !== 1) continue;
    const start = tiles.start[i] as number;
    const left = Math.max(0, scale.x(start));
    const right = Math.min(width, scale.x(start + dur));
    const box = boxes[tiles.lane[i] as number];
    if (!box || right - left < MIN_WIDTH * dpr) continue;
    context.fillStyle = !hits || hits.has(tiles.id[i] as number) ? scene.look.palette.text : scene.look.muted;
    write(context, scene, sheet.labels[tiles.name[i] as number] ?? "", { left, right, box });
  }
}

function prepare(context: CanvasRenderingContext2D, scene: Scene): void {
  context.font = fontOf(scene);
  context.textBaseline = "middle";
  context.textAlign = "left";
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
