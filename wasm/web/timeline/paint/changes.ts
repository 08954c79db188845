import type { Change } from "../../source/protocol";
import type { Row } from "../row";
import { kindName, type Sheet } from "../sheet";
import type { Piece } from "../tile-cache";
import { laneBoxes } from "./bars";
import type { Scene } from "./scene";

const STRIPE = 6;

/** Stripes over what takes another time in the other trace: rising to the right where it takes longer in the second. */
export function paintChanges(
  context: CanvasRenderingContext2D,
  scene: Scene,
  row: Row,
  track: number,
  pieces: readonly Piece[],
): void {
  const { timeline, scale, width } = scene;
  if (timeline.changes.byName.value.size === 0) return;
  const boxes = laneBoxes(scene, row, track);
  const stripes = [stripesOf(context, scene, false), stripesOf(context, scene, true)];
  for (const { sheet, span } of pieces) {
    const { start: starts, dur: durs, lane } = sheet.tiles;
    for (let i = 0; i < sheet.length; i++) {
      const start = starts[i] as number;
      const box = boxes[lane[i] as number];
      // What reaches beyond the piece is drawn with the next one.
      const left = Math.max(-2, Math.round(scale.x(Math.max(span.start, start))));
      const right = Math.min(width + 2, Math.round(scale.x(Math.min(span.end, start + (durs[i] as number)))));
      if (!box || right <= left) continue;
      const change = changeOf(scene, sheet, i);
      if (!change) continue;
      context.fillStyle = stripes[change.after_ns > change.before_ns ? 1 : 0] ?? scene.look.text;
      context.fillRect(left, box.y, right - left, box.height);
    }
  }
}

function changeOf({ timeline }: Scene, { tiles }: Sheet, i: number): Change | null {
  if (tiles.count[i] !== 1) return null;
  const kind = kindName(timeline.overview.kinds, tiles.kind[i] as number);
  return timeline.changes.of({ kind, name: tiles.names[tiles.name[i] as number] ?? "" });
}

function stripesOf(context: CanvasRenderingContext2D, { dpr, look }: Scene, rises: boolean): CanvasPattern | null {
  const size = Math.round(STRIPE * dpr);
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = size;
  const pen = canvas.getContext("2d");
  if (!pen) return null;
  pen.strokeStyle = look.path;
  pen.globalAlpha = 0.75;
  pen.lineWidth = 1.4 * dpr;
  pen.beginPath();
  for (const x of [-size, 0, size]) {
    pen.moveTo(x, rises ? size : 0);
    pen.lineTo(x + size, rises ? 0 : size);
  }
  pen.stroke();
  return context.createPattern(canvas, "repeat");
}
