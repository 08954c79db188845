import type { Track } from "../source/protocol";
import { type Layout, trackKey } from "./layout";
import type { Timeline } from "./timeline";

const MOST = 3;
const MOST_SHARE = 0.4;

/**
 * Pins the busiest streams once the height is known, if the first screen would not show them all.
 * A stack of Python frames alone can be higher than the screen, and the device is what the reader came for.
 */
export function startingPins(timeline: Timeline): () => void {
  const pin = () => {
    const { height } = timeline.size.value;
    if (height === 0) return;
    end();
    const layout = timeline.layout.value;
    const streams = busiestStreams(timeline);
    if (streams.every((track) => isOn(layout, track, height))) return;
    const pinned = fitting(streams, layout, height * MOST_SHARE);
    timeline.folding.update(({ folded }) => ({ folded, pinned: new Set(pinned) }));
  };
  const end = timeline.size.subscribe(pin);
  return end;
}

function busiestStreams({ overview }: Timeline): readonly Track[] {
  const streams = overview.tracks.filter((track) => track.kind === "stream");
  return streams.sort((a, b) => b.num_events - a.num_events).slice(0, MOST);
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
  const row = layout.scrolled.find(({ key }) => key === trackKey(track.track));
  return row !== undefined && row.top + row.height <= height;
}
