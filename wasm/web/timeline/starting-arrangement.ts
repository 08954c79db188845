import type { Group, Overview, Track } from "../source/protocol";
import { type Arrangement, LANE_HEIGHT, LOWEST_LANE } from "./arrangement";
import { type Layout, layOut } from "./layout";
import { busiest, groupKey } from "./row";
import type { Timeline } from "./timeline";

const MOST_PINS = 3;
const MOST_SHARE = 0.4;
/** Tracks with fewer lanes keep their height. */
const MANY_LANES = 8;

/**
 * Arranges the first screen so that every track is visible, once the height is known.
 * Stacks of Python frames alone can be higher than the screen, which would hide the devices. Tracks
 * with many lanes get lower lanes. If that is not enough, the busiest streams are pinned. With
 * several traces, host threads are folded; the profiler's own tracks always are.
 */
export function startingArrangement(timeline: Timeline): () => void {
  // Tracks lowered here, not by the reader.
  let fitted: ReadonlySet<number> = new Set();
  const fitIn = (as: Arrangement, height: number) => {
    const low = lowered(timeline.overview, as, fitted, height);
    fitted = low.fitted;
    return low.arrangement;
  };
  const arrange = () => {
    const { height } = timeline.size.value;
    if (height === 0) return;
    end();
    if (timeline.overview.parts.length > 1) return;
    timeline.tracks.arrangement.update((as) => pinned(timeline, fitIn(as, height), height));
  };
  // The host asks for the height before the size is known.
  timeline.tracks.arrangement.update((as) => ({ ...as, folded: foldedAtFirst(timeline.overview) }));
  const end = timeline.size.subscribe(arrange);
  // The number of lanes changes which names have room.
  let { frames } = timeline.setup.value;
  const refit = timeline.setup.subscribe(() => {
    const before = frames;
    frames = timeline.setup.value.frames;
    if (frames === before || timeline.overview.parts.length > 1) return;
    const { height } = timeline.size.value;
    timeline.tracks.arrangement.update((as) => fitIn(as, height));
  });
  return () => {
    end();
    refit();
  };
}

/** The profiler's own tracks, and with several traces all host threads. */
function foldedAtFirst({ groups, parts }: Overview): ReadonlySet<string> {
  const isFolded = (group: Group) => group.is_aside || (group.kind === "host" && parts.length > 1);
  return new Set(groups.filter(isFolded).map(({ group }) => groupKey(group)));
}

interface Lowered {
  readonly arrangement: Arrangement;
  /** Tracks with low lanes, or that would have them had the reader not raised them. */
  readonly fitted: ReadonlySet<number>;
}

/**
 * The highest lanes at which all tracks fit, or the lowest possible ones. Keeps the reader's
 * choices.
 */
function lowered(overview: Overview, as: Arrangement, before: ReadonlySet<number>, height: number): Lowered {
  const own = [...as.low].filter((track) => !before.has(track));
  const raised = new Set([...before].filter((track) => !as.low.has(track)));
  const asItIs = { ...as, low: new Set(own) };
  if (layOut(overview, asItIs).scrolledHeight <= height) return { arrangement: asItIs, fitted: raised };
  const many = overview.tracks.filter((track) => track.num_lanes >= MANY_LANES).map(({ track }) => track);
  const low = new Set([...own, ...many.filter((track) => !raised.has(track))]);
  const fitted = new Set([...raised, ...many]);
  for (let lowHeight = LANE_HEIGHT - 1; lowHeight > LOWEST_LANE; lowHeight--) {
    const arrangement = { ...as, lowHeight, low };
    if (layOut(overview, arrangement).scrolledHeight <= height) return { arrangement, fitted };
  }
  return { arrangement: { ...as, lowHeight: LOWEST_LANE, low }, fitted };
}

function pinned(timeline: Timeline, arrangement: Arrangement, height: number): Arrangement {
  const layout = layOut(timeline.overview, arrangement);
  const all = timeline.overview.tracks.filter((track) => track.kind === "stream");
  const streams = busiest(all, MOST_PINS);
  if (streams.every((track) => isOn(layout, track, height))) return arrangement;
  return { ...arrangement, pinned: new Set(fitting(streams, layout, height * MOST_SHARE)) };
}

function fitting(tracks: readonly Track[], layout: Layout, height: number): readonly number[] {
  let room = height;
  const fits = (track: Track) => {
    room -= layout.rowOf.get(track.track)?.height ?? 0;
    return room >= 0;
  };
  return tracks.filter(fits).map((track) => track.track);
}

function isOn(layout: Layout, track: Track, height: number): boolean {
  const row = layout.rowOf.get(track.track);
  return row !== undefined && row.top + row.height <= height;
}
