import type { Group, Overview, Track } from "../source/protocol";
import { type Arrangement, inOrder, LANE_HEIGHT } from "./arrangement";
import { groupKey, numLanes, type Row, trackKey } from "./row";

const GROUP_HEIGHT = 24;
const FOLDED_HEIGHT = 25;
const PADDING_TOP = 4;
const PADDING_BOTTOM = 5;

export interface Layout {
  readonly pinned: readonly Row[];
  readonly pinnedHeight: number;
  readonly scrolled: readonly Row[];
  readonly scrolledHeight: number;
  /** The row in which a track is drawn. */
  readonly rowOf: ReadonlyMap<number, Row>;
}

export function layOut(overview: Overview, arrangement: Arrangement): Layout {
  const pinned = new Stack();
  const scrolled = new Stack();
  for (const track of pinnedTracks(overview, arrangement)) pinned.push(trackRow(overview, track, arrangement, true));
  for (const group of inOrder(overview.groups, (g) => groupKey(g.group), arrangement.order)) {
    for (const row of groupRows(overview, group, arrangement)) scrolled.push(row);
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

function pinnedTracks({ tracks }: Overview, { pinned }: Arrangement): readonly Track[] {
  const known = new Map(tracks.map((track) => [track.track, track]));
  return [...pinned].map((track) => known.get(track)).filter((track) => track !== undefined);
}

function* groupRows(overview: Overview, group: Group, arrangement: Arrangement): Generator<Draft> {
  const tracks = shownTracks(overview, group, arrangement);
  if (tracks.length === 0) return;
  const folded = arrangement.folded.has(groupKey(group.group));
  yield groupRow(group, folded ? tracks : [], folded);
  if (folded) return;
  for (const track of tracks) yield trackRow(overview, track, arrangement, false);
}

function shownTracks({ tracks }: Overview, group: Group, { pinned, filter, order }: Arrangement): readonly Track[] {
  const wanted = filter.trim().toLowerCase();
  const matches = (name: string) => name.toLowerCase().includes(wanted);
  const all = matches(group.name);
  const own = tracks.filter((t) => t.group === group.group && !pinned.has(t.track) && (all || matches(t.name)));
  return inOrder(own, (t) => trackKey(t.track), order);
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
    low: false,
    height,
    ...squeezed(height, tracks),
  };
}

function trackRow(overview: Overview, track: Track, arrangement: Arrangement, pinned: boolean): Draft {
  const key = trackKey(track.track);
  const folded = arrangement.folded.has(key) && track.num_lanes > 1;
  const low = arrangement.low.has(track.track);
  const laneHeight = low ? arrangement.lowHeight : LANE_HEIGHT;
  const height = folded ? FOLDED_HEIGHT : trackHeight(track, laneHeight);
  return {
    key,
    kind: "track",
    name: track.name,
    group: overview.groups.find((g) => g.group === track.group) ?? {
      group: track.group,
      parent: null,
      part: 0,
      kind: "host",
      name: "",
    },
    tracks: [track],
    folded,
    pinned,
    low,
    height,
    ...(folded ? squeezed(height, [track]) : { laneTop: PADDING_TOP, laneHeight }),
  };
}

/** Room for the name in the gutter, however few and low the lanes are. */
export const trackHeight = (track: Track, laneHeight: number): number =>
  Math.max(FOLDED_HEIGHT, PADDING_TOP + laneHeight * numLanes(track) + PADDING_BOTTOM);

/** All lanes squeezed into `height`: a folded row still shows every event. */
function squeezed(height: number, tracks: readonly Track[]): Pick<Row, "laneTop" | "laneHeight"> {
  const count = tracks.reduce((sum, track) => sum + numLanes(track), 0);
  const laneHeight = Math.min(LANE_HEIGHT, (height - PADDING_TOP - PADDING_BOTTOM) / Math.max(1, count));
  return { laneTop: PADDING_TOP, laneHeight };
}

function rowsByTrack(rows: readonly Row[]): ReadonlyMap<number, Row> {
  return new Map(rows.flatMap((row) => row.tracks.map((track) => [track.track, row] as const)));
}
