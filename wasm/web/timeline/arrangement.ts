import type { Overview } from "../source/protocol";
import { groupKey, trackKey } from "./row";

export const LANE_HEIGHT = 17;
/** Lowest height of a lane at which lanes can be told apart and hit, in CSS pixels. */
export const LOWEST_LANE = 6;

/** The reader's arrangement of the tracks. */
export interface Arrangement {
  readonly folded: ReadonlySet<string>;
  /** In the order of display. */
  readonly pinned: ReadonlySet<number>;
  /** Tracks whose lanes are `lowHeight` high. */
  readonly low: ReadonlySet<number>;
  readonly lowHeight: number;
  /** Keys of moved groups and tracks, with all their siblings. Others keep the core's order. */
  readonly order: readonly string[];
  /** Shows only tracks with this text in their name or their group's name. */
  readonly filter: string;
}

export const AS_IT_COMES: Arrangement = {
  folded: new Set(),
  pinned: new Set(),
  low: new Set(),
  lowHeight: LOWEST_LANE,
  order: [],
  filter: "",
};

/** Sorts `items` by the keys in `order`. Items without a key there keep their place. */
export function inOrder<T>(items: readonly T[], keyOf: (item: T) => string, order: readonly string[]): readonly T[] {
  if (order.length === 0) return items;
  const places = new Map(order.map((key, index) => [key, index]));
  const placeOf = (item: T) => places.get(keyOf(item)) ?? -1;
  return [...items].sort((a, b) => placeOf(a) - placeOf(b));
}

/** Moves `key` to the position of `target`, and `target` towards the old position of `key`. */
function movedTo(keys: readonly string[], key: string, target: string): readonly string[] {
  const [from, to] = [keys.indexOf(key), keys.indexOf(target)];
  if (from < 0 || to < 0) return keys;
  const others = keys.filter((other) => other !== key);
  return [...others.slice(0, to), key, ...others.slice(to)];
}

/** The keys that a group or track may be moved among: those in the same group. */
export function siblingsOf(overview: Overview, { order, pinned }: Arrangement, key: string): readonly string[] {
  const group = overview.groups.find((g) => groupKey(g.group) === key);
  if (group) {
    const groups = overview.groups.filter(({ parent }) => parent === group.parent).map((g) => groupKey(g.group));
    return inOrder(groups, (k) => k, order);
  }
  const track = overview.tracks.find((t) => trackKey(t.track) === key);
  if (!track) return [];
  if (pinned.has(track.track)) return [...pinned].map(trackKey);
  const keys = overview.tracks.filter((t) => t.group === track.group && !pinned.has(t.track));
  return inOrder(
    keys.map((t) => trackKey(t.track)),
    (k) => k,
    order,
  );
}

/** Moves the group or track `key` to the position of its sibling `target`. */
export function rearranged(overview: Overview, arrangement: Arrangement, key: string, target: string): Arrangement {
  const siblings = movedTo(siblingsOf(overview, arrangement, key), key, target);
  const pins = [...arrangement.pinned];
  if (pins.some((track) => trackKey(track) === key)) {
    return { ...arrangement, pinned: new Set(inOrder(pins, trackKey, siblings)) };
  }
  const others = arrangement.order.filter((other) => !siblings.includes(other));
  return { ...arrangement, order: [...others, ...siblings] };
}

/** Adds `item` to `set`, or removes it where it is present. */
export function toggled<T>(set: ReadonlySet<T>, item: T): ReadonlySet<T> {
  const copy = new Set(set);
  if (!copy.delete(item)) copy.add(item);
  return copy;
}
