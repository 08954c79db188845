import { Cell } from "../base/cell";
import { between, zoomed } from "../base/scale";
import { confined, lengthOf, moved, padded, type Span, span } from "../base/time";

// Below it a pixel would show less than a hundredth of a nanosecond.
const SHORTEST = 10;
// Room beside the first and the last event, so that they are not glued to the frame.
const MARGIN = 0.01;
const EASE_MS = 55;
const ARRIVED = 1e-3;

function boundsOf(duration: number): Span {
  const length = Math.max(duration, SHORTEST);
  return padded(span(0, length), length * MARGIN);
}

/** Which part of the trace is on the screen, and its way to where it was told to go. */
export class Viewport {
  readonly window: Cell<Span>;
  readonly scroll = new Cell(0);
  /** Counts what the viewport was told; whoever draws must see to it that `advance` is called. */
  readonly told = new Cell(0);
  /** Set for readers who want no motion: every way is then taken at once. */
  calm = false;
  /** All that may be shown. */
  bounds: Span;
  #target: Span;
  #scrollTarget = 0;
  #scrollLimit = 0;

  constructor(duration: number) {
    this.bounds = boundsOf(duration);
    this.#target = this.bounds;
    this.window = new Cell(this.bounds);
  }

  /** Lasts another time now; who saw all of it still does. */
  rebound(duration: number): void {
    const { isWhole } = this;
    this.bounds = boundsOf(duration);
    this.show(isWhole ? this.bounds : this.#target);
  }

  /** Whether all of it is shown, or will be. */
  get isWhole(): boolean {
    return lengthOf(this.#target) > lengthOf(this.bounds) * 0.999;
  }

  get target(): Span {
    return this.#target;
  }

  get scrollLimit(): number {
    return this.#scrollLimit;
  }

  /** Goes to `to`; at once unless `smooth`. */
  show(to: Span, smooth = false): void {
    const lacking = SHORTEST - lengthOf(to);
    this.#target = confined(lacking > 0 ? padded(to, lacking / 2) : to, this.bounds);
    if (!smooth || this.calm) this.window.set(this.#target);
    this.told.update((n) => n + 1);
  }

  /** Makes the window `factor` times as long around `anchor`. */
  zoom(factor: number, anchor: number, smooth = false): void {
    const to = zoomed(this.#target, factor, anchor);
    if (lengthOf(to) < SHORTEST && factor < 1) return;
    this.show(to, smooth);
  }

  pan(ns: number, smooth = false): void {
    this.show(moved(this.#target, ns), smooth);
  }

  scrollTo(y: number, smooth = false): void {
    this.#scrollTarget = Math.min(Math.max(0, y), this.#scrollLimit);
    if (!smooth || this.calm) this.scroll.set(Math.round(this.#scrollTarget));
    this.told.update((n) => n + 1);
  }

  scrollBy(dy: number): void {
    this.scrollTo(this.#scrollTarget + dy);
  }

  limitScroll(limit: number): void {
    this.#scrollLimit = Math.max(0, limit);
    if (this.#scrollTarget > this.#scrollLimit) this.scrollTo(this.#scrollLimit);
  }

  /** Goes on for `ms`; true while the way is not done. */
  advance(ms: number): boolean {
    const way = 1 - Math.exp(-ms / EASE_MS);
    const window = this.#advanceWindow(way);
    const scroll = this.#advanceScroll(way);
    return window || scroll;
  }

  #advanceWindow(way: number): boolean {
    const from = this.window.value;
    const to = this.#target;
    if (from === to) return false;
    const off = Math.abs(from.start - to.start) + Math.abs(from.end - to.end);
    const near = off < ARRIVED * lengthOf(to);
    this.window.set(near ? to : between(from, to, way));
    return !near;
  }

  #advanceScroll(way: number): boolean {
    const off = this.#scrollTarget - this.scroll.value;
    if (off === 0) return false;
    const step = Math.abs(off) < 2 ? off : Math.round(off * way) || Math.sign(off);
    this.scroll.set(this.scroll.value + step);
    return step !== off;
  }
}
