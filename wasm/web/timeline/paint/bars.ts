import type { Palette } from "../../base/palette";
import type { EventId } from "../../source/protocol";
import { firstLane, type Row } from "../row";
import type { Sheet } from "../sheet";
import { type LaneBox, laneBox, type Scene } from "./scene";

// A bar narrower than this gives no pixel away to the gap before its neighbour.
const MIN_GAPPED = 4;

/** Draws the tiles of one track as bars. */
export function paintBars(context: CanvasRenderingContext2D, scene: Scene, row: Row, sheet: Sheet): void {
  const { timeline, look, scale, width } = scene;
  const { tiles } = sheet;
  const { codes, order } = sheet.colored(timeline.colorBy.value, timeline.overview.kinds);
  const hits = timeline.search.found.value?.ids ?? null;
  const boxes = laneBoxes(scene, row, sheet);
  const { start: from, end: to } = scale.window;
  let color = "";
  for (const i of order) {
    const start = tiles.start[i] as number;
    const end = start + (tiles.dur[i] as number);
    if (end < from || start > to) continue;
    const box = boxes[tiles.lane[i] as number];
    if (!box) continue;
    const single = tiles.count[i] === 1;
    const wanted = fillOf(look.palette, codes[i] as number, single, hits, tiles.id[i] as number);
    if (wanted !== color) context.fillStyle = color = wanted;
    const x = Math.max(-2, Math.round(scale.x(start)));
    const right = Math.min(width + 2, Math.round(scale.x(end)));
    const gap = right - x > MIN_GAPPED ? 1 : 0;
    context.fillRect(x, box.y, Math.max(1, right - x - gap), box.height);
  }
}

function fillOf(
  palette: Palette,
  code: number,
  single: boolean,
  hits: ReadonlySet<EventId> | null,
  id: EventId,
): string {
  const shades = shadesOf(palette, single, hits !== null && !hits.has(id));
  return shades[code] as string;
}

function shadesOf(palette: Palette, single: boolean, dimmed: boolean): readonly string[] {
  if (dimmed) return palette.dimmed;
  return single ? palette.fills : palette.merged;
}

/** The place of each lane; undefined for those that are not on the screen. */
export function laneBoxes(scene: Scene, row: Row, sheet: Sheet): readonly (LaneBox | undefined)[] {
  const track = row.tracks.find((t) => t.track === sheet.track);
  const first = firstLane(row, sheet.track);
  return Array.from({ length: Math.max(1, track?.num_lanes ?? 1) }, (_, lane) => {
    const box = laneBox(scene, row, first + lane);
    return box.y + box.height > scene.headerHeight && box.y < scene.height ? box : undefined;
  });
}
