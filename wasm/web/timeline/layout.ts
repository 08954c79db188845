import type { Group, Overview, Track } from "../source/protocol";

export const LANE_HEIGHT = 17;
const GROUP_HEIGHT = 24;
const FOLDED_HEIGHT = 25;
const PADDING_TOP = 4;
const PADDING_BOTTOM = 5;

/** One line of the gutter with its stretch of the picture. */
export interface Row {
  readonly key: string;
  readonly kind: "group" | "track";
  readonly name: string;
  readonly group: Group;
  /** What is drawn in it: its own track, or all tracks of a folded group. */
  readonly tracks: readonly Track[];
  readonly folded: boolean;
  readonly pinned: boolean;
  /** From the top of the part (pinned or scrolled) that it lies in. */
  readonly top: number;
  readonly height: number;
  readonly laneTop: number;
  readonly laneHeight: number;
}

export interface Layout {
  readonly pinned: readonly Row[];
  readonly pinnedHeight: number;
  readonly scrolled: readonly Row[];
  readonly scrolledHeight: number;
  /** The row in which a track is drawn. */
  readonly rowOf: ReadonlyMap<number, Row>;
}

export interface Folding {
  readonly folded: ReadonlySet<string>;
  readonly pinned: ReadonlySet<number>;
}

export const groupKey = (group: number): string => `group-${group}`;
export const trackKey = (track: number): string => `track-${track}`;

export function layOut(overview: Overview, folding: Folding): Layout {
  const pinned = new Stack();
  const scrolled = new Stack();
  for (const track of overview.tracks) {
    if (folding.pinned.has(track.track)) pinned.push(trackRow(overview, track, folding, true));
  }
  for (const group of overview.groups) {
    for (const row of groupRows(overview, group, folding)) scrolled.push(row);
  }
  return {
    pinned: pinned.rows,
    pinnedHeight: pinned.height,
    scrolled: scrolled.rows,
    scrolledHeight: scrolled.height,
    rowOf: rowsByTrack([...pinned.rows, ...scrolled.rows]),
  };
}

type Draft = Omit<Row, "top">;

class Stack {
  readonly rows: Row[] = [];
  height = 0;

  push(draft: Draft): void {
    this.rows.push({ ...draft, top: this.height });
    this.height += draft.height;
  }
}

function* groupRows(overview: Overview, group: Group, folding: Folding): Generator<Draft> {
  const tracks = overview.tracks.filter((t) => t.group === group.group && !folding.pinned.has(t.track));
  if (tracks.length === 0) return;
  const folded = folding.folded.has(groupKey(group.group));
  yield groupRow(group, folded ? tracks : [], folded);
  if (folded) return;
  for (const track of tracks) yield trackRow(overview, track, folding, false);
}

function groupRow(group: Group, tracks: readonly Track[], folded: boolean): Draft {
  const height = folded ? FOLDED_HEIGHT : GROUP_HEIGHT;
  return {
    key: groupKey(group.group),
    kind: "group",
    name: group.name,
    group,
    tracks,
    folded,
    pinned: false,
    height,
    ...lanes(height, tracks),
  };
}

function trackRow(overview: Overview, track: Track, folding: Folding, pinned: boolean): Draft {
  const key = trackKey(track.track);
  const folded = folding.folded.has(key) && track.num_lanes > 1;
  const full = PADDING_TOP + LANE_HEIGHT * Math.max(1, track.num_lanes) + PADDING_BOTTOM;
  const height = folded ? FOLDED_HEIGHT : full;
  return {
    key,
    kind: "track",
    name: track.name,
    group: overview.groups.find((g) => g.group === track.group) ?? { group: track.group, kind: "host", name: "" },
    tracks: [track],
    folded,
    pinned,
    height,
    ...(folded ? lanes(height, [track]) : { laneTop: PADDING_TOP, laneHeight: LANE_HEIGHT }),
  };
}

/** All lanes squeezed into `height`: a folded row still shows every event. */
function lanes(height: number, tracks: readonly Track[]): Pick<Row, "laneTop" | "laneHeight"> {
  const count = tracks.reduce((sum, track) => sum + Math.max(1, track.num_lanes), 0);
  const laneHeight = Math.min(LANE_HEIGHT, (height - PADDING_TOP - PADDING_BOTTOM) / Math.max(1, count));
  return { laneTop: PADDING_TOP, laneHeight };
}

function rowsByTrack(rows: readonly Row[]): ReadonlyMap<number, Row> {
  return new Map(rows.flatMap((row) => row.tracks.map((track) => [track.track, row] as const)));
}

/** The lanes of a folded group's tracks lie below each other; `track`'s first one is this many lanes down. */
export function firstLane(row: Row, track: number): number {
  let lane = 0;
  for (const other of row.tracks) {
    if (other.track === track) return lane;
    lane += Math.max(1, other.num_lanes);
  }
  return 0;
}

/** The track and lane at `y` below the top of `row`; null between lanes. */
export function laneAt(row: Row, y: number): { track: number; lane: number } | null {
  let lane = Math.floor((y - row.laneTop) / row.laneHeight);
  if (lane < 0) return null;
  for (const track of row.tracks) {
    const count = Math.max(1, track.num_lanes);
    if (lane < count) return { track: track.track, lane };
    lane -= count;
  }
  return null;
}

/** The rows that touch `top` … `bottom`. */
export function rowsBetween(rows: readonly Row[], top: number, bottom: number): readonly Row[] {
  return rows.filter((row) => row.top < bottom && row.top + row.height > top);
}
