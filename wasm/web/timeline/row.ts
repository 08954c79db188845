import type { Counter, Group, Track } from "../source/protocol";

/** A row of the gutter and its part of the picture. */
export interface Row {
  readonly key: string;
  readonly kind: "group" | "track" | "counter";
  readonly name: string;
  readonly group: Group;
  /** Number of groups around the row. */
  readonly depth: number;
  /** The row's own track, or all tracks of a folded group. */
  readonly tracks: readonly Track[];
  /** Drawn in the row instead of tracks. */
  readonly counter?: Counter;
  readonly folded: boolean;
  /** The reader pinned the row. */
  readonly kept: boolean;
  /** The row stays at the top while others scroll. */
  readonly pinned: boolean;
  /** The reader lowered its lanes. */
  readonly low: boolean;
  /** CSS pixels from the top of its part: pinned or scrolled. */
  readonly top: number;
  readonly height: number;
  readonly laneTop: number;
  readonly laneHeight: number;
}

export const groupKey = (group: number): string => `group-${group}`;
export const counterKey = (counter: number): string => `counter-${counter}`;
export const trackKey = (track: number): string => `track-${track}`;

export const numLanes = (track: Track): number => Math.max(1, track.num_lanes);

/** The `limit` tracks with the most events, in their own order. */
export function busiest(tracks: readonly Track[], limit: number): readonly Track[] {
  const most = [...tracks].sort((a, b) => b.num_events - a.num_events).slice(0, limit);
  return tracks.filter((track) => most.includes(track));
}

export const canFold = (row: Row): boolean => row.kind !== "track" || (row.tracks[0]?.num_lanes ?? 1) > 1;

/** Lanes above those of `track` in a folded group, which stacks its tracks. */
export function firstLane(row: Row, track: number): number {
  let lane = 0;
  for (const other of row.tracks) {
    if (other.track === track) return lane;
    lane += numLanes(other);
  }
  return 0;
}

/** The track and lane at `y` below the top of `row`; null between lanes. */
export function laneAt(row: Row, y: number): { track: number; lane: number } | null {
  let lane = Math.floor((y - row.laneTop) / row.laneHeight);
  if (lane < 0) return null;
  for (const track of row.tracks) {
    if (lane < numLanes(track)) return { track: track.track, lane };
    lane -= numLanes(track);
  }
  return null;
}

/** The rows that touch `top` … `bottom`. */
export function rowsBetween(rows: readonly Row[], top: number, bottom: number): readonly Row[] {
  return rows.filter((row) => row.top < bottom && row.top + row.height > top);
}
