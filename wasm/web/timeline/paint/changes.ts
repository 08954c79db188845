import { FALLS, RISES } from "../changes";
import type { Look } from "../look";
import type { Piece } from "../tile-cache";
import type { LaneBox, Lanes, Scene } from "./scene";

const STRIPE = 6;

/** Stripes over what takes another time in the other trace: rising to the right where it takes longer in the second. */
export function paintChanges(context: CanvasRenderingContext2D, scene: Scene, { boxes, pieces }: Lanes): void {
  if (scene.timeline.changes.byName.value.size === 0) return;
  const stripes = stripesOf(context, scene);
  for (const { lane, box } of boxes) {
    for (const piece of pieces) paintLane(context, scene, piece, { lane, box, stripes });
  }
}

interface Lane {
  readonly lane: number;
  readonly box: LaneBox;
  readonly stripes: Stripes;
}

function paintLane(context: CanvasRenderingContext2D, scene: Scene, { sheet, span }: Piece, into: Lane): void {
  const { timeline, scale, width } = scene;
  const { lane, box, stripes } = into;
  const { start: starts, dur: durs } = sheet.tiles;
  const changes = timeline.changes.changesIn(sheet, timeline.overview.kinds);
  const last = Math.min(span.end, scale.window.end);
  const end = sheet.laneEnd(lane);
  for (let i = sheet.firstIn(lane, Math.max(scale.window.start, span.start)); i < end; i++) {
    const start = starts[i] as number;
    if (start > last) return;
    const stripe = stripes.get(changes[i] as number);
    if (!stripe) continue;
    // What reaches beyond the piece is drawn with the next one.
    const left = Math.max(-2, Math.round(scale.x(Math.max(span.start, start))));
    const right = Math.min(width + 2, Math.round(scale.x(Math.min(span.end, start + (durs[i] as number)))));
    context.fillStyle = stripe;
    if (right > left) context.fillRect(left, box.y, right - left, box.height);
  }
}

type Stripes = ReadonlyMap<number, CanvasPattern | string>;

interface Drawn {
  readonly dpr: number;
  readonly stripes: Stripes;
}

const drawn = new WeakMap<Look, Drawn>();

/** Those of a look and its pixels are drawn once. */
function stripesOf(context: CanvasRenderingContext2D, { dpr, look }: Scene): Stripes {
  const known = drawn.get(look);
  if (known?.dpr === dpr) return known.stripes;
  const stripe = (rises: boolean) => drawStripe(context, look, dpr, rises) ?? look.text;
  const stripes = new Map([
    [FALLS, stripe(false)],
    [RISES, stripe(true)],
  ]);
  drawn.set(look, { dpr, stripes });
  return stripes;
}

function drawStripe(context: CanvasRenderingContext2D, look: Look, dpr: number, rises: boolean): CanvasPattern | null {
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
