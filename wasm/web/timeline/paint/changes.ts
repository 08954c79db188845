import { FALLS, RISES } from "../changes";
import type { Piece } from "../tile-cache";
import { hatchOf } from "./hatch";
import type { LaneBox, Lanes, Scene } from "./scene";

const STRIPE = 6;

/**
 * Stripes over events whose time differs between the traces. They rise to the right where the
 * second trace takes longer.
 */
export function paintChanges(context: CanvasRenderingContext2D, scene: Scene, { boxes, pieces }: Lanes): void {
  if (scene.timeline.changes.byName.value.size === 0) return;
  const stripes = stripesOf(context, scene);
  for (const { lane, box } of boxes) {
    for (const piece of pieces) paintLane(context, scene, piece, { lane, box, stripes });
  }
}

interface ChangeLane {
  readonly lane: number;
  readonly box: LaneBox;
  readonly stripes: Stripes;
}

function paintLane(
  context: CanvasRenderingContext2D,
  scene: Scene,
  { trackTiles, span }: Piece,
  into: ChangeLane,
): void {
  const { timeline, scale, width } = scene;
  const { lane, box, stripes } = into;
  const { start: starts, dur: durs } = trackTiles.tiles;
  const changes = timeline.changes.changesIn(trackTiles, timeline.overview.kinds);
  const last = Math.min(span.end, scale.window.end);
  const end = trackTiles.laneEnd(lane);
  // Adjacent rectangles become one: thousands would delay the frame.
  let run = { change: 0, left: 0, right: 0 };
  const flush = () => {
    const stripe = stripes.get(run.change);
    if (!stripe || run.right <= run.left) return;
    context.fillStyle = stripe;
    context.fillRect(run.left, box.y, run.right - run.left, box.height);
  };
  for (let i = trackTiles.firstIn(lane, Math.max(scale.window.start, span.start)); i < end; i++) {
    const start = starts[i] as number;
    if (start > last) break;
    const change = changes[i] as number;
    const ended = start + (durs[i] as number);
    if (change === 0 || (ended <= span.start && start < span.start)) continue;
    // The next piece draws the rest of the event.
    const left = Math.max(-2, Math.round(scale.x(Math.max(span.start, start))));
    const right = Math.min(width + 2, Math.max(left + 1, Math.round(scale.x(Math.min(span.end, ended)))));
    if (change === run.change && left <= run.right) run.right = right;
    else {
      flush();
      run = { change, left, right };
    }
  }
  flush();
}

type Stripes = ReadonlyMap<number, CanvasPattern | string>;

function stripesOf(context: CanvasRenderingContext2D, { dpr, look }: Scene): Stripes {
  const hatch = { color: look.path, alpha: 0.75, size: Math.round(STRIPE * dpr), line: 1.4 * dpr };
  const stripe = (rises: boolean) => hatchOf(context, look, { ...hatch, rises }) ?? look.text;
  return new Map([
    [FALLS, stripe(false)],
    [RISES, stripe(true)],
  ]);
}
