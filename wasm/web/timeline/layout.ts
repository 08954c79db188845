import type { Counter, Group, Overview, Track } from "../source/protocol";
import { type Arrangement, inOrder, LANE_HEIGHT } from "./arrangement";
import { counterKey, groupKey, numLanes, type Row, trackKey } from "./row";

const GROUP_HEIGHT = 24;
const FOLDED_HEIGHT = 25;
const COUNTER_HEIGHT = 44;
const PADDING_TOP = 4;
const PADDING_BOTTOM = 5;

export interface Layout {
  readonly pinned: readonly Row[];
  readonly pinnedHeight: number;
  readonly scrolled: readonly Row[];
  readonly scrolledHeight: number;
  /** The row of each track. */
  readonly rowOf: ReadonlyMap<number, Row>;
}

/**
 * Pinned tracks beyond `room` scroll with the others, before them: pinned tracks must not cover
 * all.
 */
export function layOut(
  overview: Overview,
  arrangement: Arrangement,
  counters: readonly Counter[] = [],
  room = Number.POSITIVE_INFINITY,
): Layout {
  const pinned = new Stack();
  const scrolled = new Stack();
  for (const [track, group] of pinnedTracks(overview, arrangement)) {
    const row = { ...trackRow(track, group, arrangement, 0), name: nameAlone(overview, track, group) };
    const fits = pinned.height + row.height <= room;
    (fits ? pinned : scrolled).push({ ...row, kept: true, pinned: fits });
  }
  for (const row of groupsIn(null, { overview, arrangement, counters, all: false, depth: 0 })) scrolled.push(row);
  return {
    pinned: pinned.rows,
    pinnedHeight: pinned.height,
    scrolled: scrolled.rows,
    scrolledHeight: scrolled.height,
    rowOf: rowsByTrack([...pinned.rows, ...scrolled.rows]),
  };
}

/** The name of a pinned track, with its groups where other groups have a track of the same name. */
function nameAlone({ tracks, groups }: Overview, track: Track, group: Group): string {
  const same = tracks.filter(({ name }) => name === track.name);
  const part = groups.find(({ part, parent }) => part === group.part && parent === null) ?? group;
  const own = new Set(groups.filter((one) => one.part === group.part).map((one) => one.group));
  const isOfParts = same.some((other) => !own.has(other.group));
  const isOfGroups = same.some((other) => other.group !== group.group && !isOfParts);
  const of = [isOfParts ? part.name : "", isOfGroups ? group.name : ""].filter(Boolean);
  // The rest of a group's name, such as a device's model, has no room.
  return [...of.map((name) => name.split(" · ")[0]), track.name].join(" · ");
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

/** Pinned tracks with their groups. */
function pinnedTracks({ tracks, groups }: Overview, { pinned }: Arrangement): readonly (readonly [Track, Group])[] {
  const trackOf = new Map(tracks.map((track) => [track.track, track]));
  const groupOf = new Map(groups.map((group) => [group.group, group]));
  return [...pinned].flatMap((pin) => {
    const track = trackOf.get(pin);
    const group = track && groupOf.get(track.group);
    return track && group ? [[track, group] as const] : [];
  });
}

/** Context of a group: when a group around it matches the filter, so does everything inside. */
interface GroupContext {
  readonly overview: Overview;
  readonly arrangement: Arrangement;
  readonly counters: readonly Counter[];
  readonly all: boolean;
  readonly depth: number;
}

function* groupsIn(parent: number | null, inside: GroupContext): Generator<Draft> {
  const groups = inside.overview.groups.filter((group) => group.parent === parent);
  for (const group of inOrder(groups, (g) => groupKey(g.group), inside.arrangement.order)) {
    yield* groupRows(group, inside);
  }
}

/** Rows of a group and the groups inside it. A folded group is one row with all its tracks. */
function* groupRows(group: Group, around: GroupContext): Generator<Draft> {
  const { arrangement, depth } = around;
  const inside = { ...around, all: around.all || matches(group.name, arrangement), depth: depth + 1 };
  const tracks = shownTracks(group, inside).map((track) => trackRow(track, group, arrangement, depth));
  const rows = [...counterRows(group, inside), ...tracks, ...groupsIn(group.group, inside)];
  if (rows.length === 0) return;
  const folded = arrangement.folded.has(groupKey(group.group));
  yield groupRow(group, folded ? foldedTracks(group, rows) : [], folded, depth);
  if (!folded) yield* rows;
}

/** All tracks; of a trace its streams where it has any, which tell how busy its devices are. */
function foldedTracks({ kind }: Group, rows: readonly Draft[]): readonly Track[] {
  const tracks = rows.flatMap((row) => row.tracks);
  const streams = tracks.filter((track) => track.kind === "stream");
  return kind === "trace" && streams.length > 0 ? streams : tracks;
}

const matches = (name: string, { filter }: Arrangement): boolean =>
  name.toLowerCase().includes(filter.trim().toLowerCase());

function shownTracks(group: Group, { overview, arrangement, all }: GroupContext): readonly Track[] {
  const { pinned, order } = arrangement;
  const own = overview.tracks.filter((t) => t.group === group.group && !pinned.has(t.track));
  const shown = own.filter((t) => all || matches(t.name, arrangement));
  return inOrder(shown, (t) => trackKey(t.track), order);
}

function counterRows(group: Group, { counters, arrangement, all, depth }: GroupContext): readonly Draft[] {
  const own = counters.filter(
    (counter) => counter.group === group.group && (all || matches(counter.name, arrangement)),
  );
  return own.map((counter) => {
    const key = counterKey(counter.counter);
    const folded = arrangement.folded.has(key);
    const height = folded ? FOLDED_HEIGHT : COUNTER_HEIGHT;
    const lanes = { laneTop: PADDING_TOP, laneHeight: height };
    const row = {
      key,
      kind: "counter" as const,
      name: counter.name,
      group,
      depth: depth - 1,
      counter,
      height,
      ...lanes,
    };
    return { ...row, tracks: [], folded, kept: false, pinned: false, low: false };
  });
}

function groupRow(group: Group, tracks: readonly Track[], folded: boolean, depth: number): Draft {
  const height = folded ? FOLDED_HEIGHT : GROUP_HEIGHT;
  return {
    key: groupKey(group.group),
    kind: "group",
    name: group.name,
    group,
    depth,
    tracks,
    folded,
    kept: false,
    pinned: false,
    low: false,
    height,
    ...squeezed(height, tracks),
  };
}

function trackRow(track: Track, group: Group, arrangement: Arrangement, depth: number): Draft {
  const key = trackKey(track.track);
  const folded = arrangement.folded.has(key) && track.num_lanes > 1;
  const low = arrangement.low.has(track.track);
  const laneHeight = low ? arrangement.lowHeight : LANE_HEIGHT;
  const height = folded ? FOLDED_HEIGHT : trackHeight(track, laneHeight);
  return {
    key,
    kind: "track",
    name: track.name,
    group,
    tracks: [track],
    depth,
    folded,
    kept: false,
    pinned: false,
    low,
    height,
    ...(folded ? squeezed(height, [track]) : { laneTop: PADDING_TOP, laneHeight }),
  };
}

/** Leaves room for the name in the gutter. */
const trackHeight = (track: Track, laneHeight: number): number =>
  Math.max(FOLDED_HEIGHT, PADDING_TOP + laneHeight * numLanes(track) + PADDING_BOTTOM);

/** Squeezes all lanes into `height`, so that a folded row still shows every event. */
function squeezed(height: number, tracks: readonly Track[]): Pick<Row, "laneTop" | "laneHeight"> {
  const count = tracks.reduce((sum, track) => sum + numLanes(track), 0);
  const laneHeight = Math.min(LANE_HEIGHT, (height - PADDING_TOP - PADDING_BOTTOM) / Math.max(1, count));
  return { laneTop: PADDING_TOP, laneHeight };
}

function rowsByTrack(rows: readonly Row[]): ReadonlyMap<number, Row> {
  return new Map(rows.flatMap((row) => row.tracks.map((track) => [track.track, row] as const)));
}
