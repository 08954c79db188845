import type { Track } from "../source/protocol";
import { type Layout, trackKey } from "./layout";
import type { Timeline } from "./timeline";

const MOST = 3;
const MOST_SHARE = 0.4;

/**
 * Pins the busiest streams once the height is known, if the first screen would not show them.
 * A stack of Python frames alone can be higher than the screen, and the device is what the reader came for.
 */
export function startingPins(timeline: Timeline): () => void {
  const pin = () => {
    const { height } = timeline.size.value;
    if (height === 0) return;
    end();
    const pinned = hiddenStreams(timeline, height);
    if (pinned.length > 0) timeline.folding.update(({ folded }) => ({ folded, pinned: new Set(pinned) }));
  };
  const end = timeline.size.subscribe(pin);
  return end;
}

function hiddenStreams(timeline: Timeline, height: number): readonly number[] {
  const layout = timeline.layout.value;
  const hidden = timeline.overview.tracks.filter((track) => track.kind === "stream" && !isOn(layout, track, height));
  hidden.sort((a, b) => b.num_events - a.num_events);
  let room = height * MOST_SHARE;
  return hidden
    .slice(0, MOST)
    .filter((track) => {
      room -= layout.rowOf.get(track.track)?.height ?? 0;
      return room >= 0;
    })
    .map((track) => track.track);
}

function isOn(layout: Layout, track: Track, height: number): boolean {
  const row = layout.scrolled.find(({ key }) => key === trackKey(track.track));
  return row !== undefined && row.top + row.height <= height;
}
