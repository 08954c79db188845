import type { Palette } from "../../base/palette";
import type { Piece } from "../tile-cache";
import type { Lanes, Scene } from "./scene";
import type { Strip } from "./strip";

// In pixels: narrower bars have no gap to their neighbour.
const MIN_GAPPED = 4;

/** Draws the tiles of one track into a strip, a line per lane. */
export function paintBars(strip: Strip, scene: Scene, { boxes, pieces }: Lanes): void {
  for (const { lane, box } of boxes) {
    const line = strip.line(box);
    for (const piece of pieces) paintLane(strip, scene, piece, line, lane);
  }
}

function paintLane(strip: Strip, scene: Scene, { trackTiles, span }: Piece, line: number, lane: number): void {
  const { timeline, look, width, scale } = scene;
  const { start: starts, dur: durs, count: counts } = trackTiles.tiles;
  const codes = trackTiles.colored(timeline.colorBy.value, timeline.overview.kinds);
  const hits = timeline.search.hitsIn(trackTiles);
  const { start: from } = scale.window;
  const perPixel = scale.nsPerPixel;
  // The next piece draws the rest of the event.
  const least = Math.max(0, Math.round((span.start - from) / perPixel));
  const most = Math.min(width, Math.round((span.end - from) / perPixel));
  const last = Math.min(span.end, scale.window.end);
  const end = trackTiles.laneEnd(lane);
  for (let i = trackTiles.firstIn(lane, Math.max(from, span.start)); i < end; i++) {
    const start = starts[i] as number;
    if (start > last) return;
    const left = Math.round((start - from) / perPixel);
    const wide = Math.round((start + (durs[i] as number) - from) / perPixel);
    const right = wide - left > MIN_GAPPED ? wide - 1 : Math.max(left + 1, wide);
    const shades = hits && hits[i] === 0 ? look.palette.pixels.dimmed : shadesOf(look.palette, counts[i] === 1);
    strip.fill(line, Math.max(least, left), Math.min(most, right), shades[codes[i] as number] as number);
  }
}

const shadesOf = ({ pixels }: Palette, single: boolean): Uint32Array => (single ? pixels.fills : pixels.merged);
