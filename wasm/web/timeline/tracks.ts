import { Cell } from "../base/cell";
import { formatPlural } from "../base/format";
import type { Counter, Overview } from "../source/protocol";
import { type Arrangement, AS_IT_COMES, rearranged, siblingsOf, toggled } from "./arrangement";
import { type Layout, layOut } from "./layout";
import { canFold, groupKey, type Row, trackKey } from "./row";

/** Largest share of the picture for pinned tracks. */
const MOST_PINNED = 0.6;

/** The tracks in the reader's arrangement, and their rows. */
export class Tracks {
  readonly arrangement = new Cell<Arrangement>(AS_IT_COMES);
  readonly layout: Cell<Layout>;
  readonly #overview: () => Overview;
  readonly #say: (text: string) => void;
  #counters: readonly Counter[] = [];
  #room = Number.POSITIVE_INFINITY;

  constructor(overview: () => Overview, say: (text: string) => void) {
    this.#overview = overview;
    this.#say = say;
    this.layout = new Cell(layOut(overview(), this.arrangement.value));
    this.arrangement.subscribe(() => this.#layOut());
  }

  /** Computes the layout again. */
  renew(): void {
    this.#layOut();
  }

  #layOut(): void {
    this.layout.set(layOut(this.#overview(), this.arrangement.value, this.#counters, this.#room));
  }

  /** Limits pinned tracks in a picture of this height. */
  fitInto(height: number): void {
    const room = height > 0 ? MOST_PINNED * height : Number.POSITIVE_INFINITY;
    if (room === this.#room) return;
    this.#room = room;
    if (this.arrangement.value.pinned.size > 0) this.#layOut();
  }

  /** Gives each counter a row in its group. */
  showCounters(counters: readonly Counter[]): void {
    this.#counters = counters;
    this.#layOut();
  }

  toggleFold(key: string): void {
    this.arrangement.update((as) => ({ ...as, folded: toggled(as.folded, key) }));
  }

  /** Folds or unfolds the row. Returns false if nothing changed. */
  fold(row: Row, fold: boolean): boolean {
    if (!canFold(row) || row.folded === fold) return false;
    this.toggleFold(row.key);
    return true;
  }

  foldAll(fold: boolean): void {
    const keys = this.#overview().tracks.map((track) => trackKey(track.track));
    this.arrangement.update((as) => ({ ...as, folded: new Set(fold ? keys : []) }));
  }

  /** Folds each trace to one row, or unfolds all. */
  toggleTraces(): void {
    const keys = this.#overview()
      .groups.filter(({ kind }) => kind === "trace")
      .map(({ group }) => groupKey(group));
    const { folded } = this.arrangement.value;
    const isFolded = keys.every((key) => folded.has(key));
    const others = [...folded].filter((key) => !keys.includes(key));
    this.arrangement.update((as) => ({ ...as, folded: new Set(isFolded ? others : [...others, ...keys]) }));
    if (keys.length > 0) this.#say(isFolded ? "All tracks of each trace" : "One row for each trace");
  }

  togglePin(track: number): void {
    this.arrangement.update((as) => ({ ...as, pinned: toggled(as.pinned, track) }));
  }

  toggleHeight(track: number): void {
    this.arrangement.update((as) => ({ ...as, low: toggled(as.low, track) }));
  }

  /** Shows only tracks with `filter` in their name or their group's name. */
  filter(filter: string): void {
    this.arrangement.update((as) => ({ ...as, filter }));
    const shown = this.layout.value.rowOf.size;
    this.#say(filter ? `${formatPlural(shown, "track")} of ${this.#overview().tracks.length}` : "All tracks shown");
  }

  /** Moves a row to the position of its sibling `target`. */
  place(row: Row, target: string): void {
    this.arrangement.update((as) => rearranged(this.#overview(), as, row.key, target));
    const keys = siblingsOf(this.#overview(), this.arrangement.value, row.key);
    this.#say(`${row.name}: position ${keys.indexOf(row.key) + 1} of ${keys.length}`);
  }

  /** Moves a row past its next visible sibling. */
  move(row: Row, by: 1 | -1): void {
    const keys = this.#shownSiblings(row);
    const target = keys[keys.indexOf(row.key) + by];
    if (target) this.place(row, target);
  }

  #shownSiblings(row: Row): readonly string[] {
    const { pinned, scrolled } = this.layout.value;
    const shown = new Set([...pinned, ...scrolled].map(({ key }) => key));
    return siblingsOf(this.#overview(), this.arrangement.value, row.key).filter((key) => shown.has(key));
  }

  /** Raises the lanes of a track, so that event names have room. */
  uncover(track: number): void {
    if (!this.layout.value.rowOf.has(track)) this.filter("");
    if (this.arrangement.value.low.has(track)) this.toggleHeight(track);
  }

  /** Whether a row may be dropped on another. */
  canPlace(row: Row, target: Row): boolean {
    return siblingsOf(this.#overview(), this.arrangement.value, row.key).includes(target.key);
  }
}
