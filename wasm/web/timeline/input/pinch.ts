import { span } from "../../base/time";
import type { Place } from "../hit-test";
import type { Timeline } from "../timeline";

interface Finger {
  readonly id: number;
  /** The time under the finger; constant while it is down. */
  readonly time: number;
  x: number;
}

// In CSS pixels: closer fingers would zoom too fast.
const MIN_APART = 24;

/** Two fingers: the times under them stay under them. */
export class Pinch {
  readonly #timeline: Timeline;
  #fingers: Finger[] = [];

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  /** Returns true while two fingers are down. */
  down(id: number, { x }: Place): boolean {
    this.#fingers = [...this.#fingers.filter((f) => f.id !== id), this.#finger(id, x)].slice(-2);
    // The first finger may have moved the window meanwhile.
    this.#fingers = this.#fingers.map((f) => this.#finger(f.id, f.x));
    return this.#fingers.length === 2;
  }

  move(id: number, { x }: Place): boolean {
    const finger = this.#fingers.find((f) => f.id === id);
    if (finger) finger.x = x;
    if (this.#fingers.length < 2) return false;
    this.#apply();
    return true;
  }

  up(id: number): void {
    this.#fingers = this.#fingers.filter((f) => f.id !== id);
  }

  #finger(id: number, x: number): Finger {
    return { id, x, time: this.#timeAt(x) };
  }

  #timeAt(x: number): number {
    const { start, end } = this.#timeline.viewport.window.value;
    return start + (x / Math.max(1, this.#timeline.size.value.width)) * (end - start);
  }

  #apply(): void {
    const [left, right] = [...this.#fingers].sort((a, b) => a.time - b.time);
    if (!left || !right || right.x - left.x < MIN_APART) return;
    const perPixel = (right.time - left.time) / (right.x - left.x);
    const start = left.time - left.x * perPixel;
    this.#timeline.viewport.show(span(start, start + perPixel * this.#timeline.size.value.width));
  }
}
