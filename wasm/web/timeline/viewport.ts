import { Cell } from "../base/cell";
import { between, zoomed } from "../base/scale";
import { confined, lengthOf, moved, padded, type Span, span } from "../base/time";

// In nanoseconds: in a shorter window a pixel would show less than a hundredth of one.
const SHORTEST = 10;
// Margin beside the first and last event, as a share of the trace.
const MARGIN = 0.01;
const EASE_MS = 55;
const ARRIVED = 1e-3;

function boundsOf(duration: number): Span {
  const length = Math.max(duration, SHORTEST);
  return padded(span(0, length), length * MARGIN);
}

/** The visible range, with its animations. */
export class Viewport {
  readonly window: Cell<Span>;
  readonly scroll = new Cell(0);
  /** Counts commands to the viewport. After each, `advance` must be called per frame. */
  readonly told = new Cell(0);
  /** Set for readers who prefer reduced motion: no animations. */
  calm = false;
  /** The longest range that can be shown. */
  bounds: Span;
  #target: Span;
  #scrollTarget = 0;
  #scrollLimit = 0;

  constructor(duration: number) {
    this.bounds = boundsOf(duration);
    this.#target = this.bounds;
    this.window = new Cell(this.bounds);
  }

  /** Changes the duration. A view of the whole stays a view of the whole. */
  rebound(duration: number): void {
    const { isWhole } = this;
    this.bounds = boundsOf(duration);
    this.show(isWhole ? this.bounds : this.#target);
  }

  /** Whether the whole is visible, or will be after the animation. */
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

  /** Scales the window by `factor` around `anchor`. */
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

  /** Advances the animation by `ms`. Returns true while it goes on. */
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
