import { lengthOf } from "../../base/time";
import type { Timeline } from "../timeline";
import type { Command } from "./keymap";

// A tap is one step (see commands.ts). A key that is held longer glides.
const TAP_MS = 160;
const ZOOM_PER_MS = 1.0032;
const PAN_PER_MS = 0.0013;
const SCROLL_PER_MS = 0.7;

/** Moves the picture while keys are held. */
export class HeldKeys {
  readonly #since = new Map<Command, number>();

  press(command: Command, now: number): void {
    this.#since.set(command, now);
  }

  release(command: Command): void {
    this.#since.delete(command);
  }

  releaseAll(): void {
    this.#since.clear();
  }

  get any(): boolean {
    return this.#since.size > 0;
  }

  glide(timeline: Timeline, now: number, ms: number): void {
    if (timeline.viewport.calm) return;
    for (const [command, since] of this.#since) {
      if (now - since > TAP_MS) glideOne(timeline, command, ms);
    }
  }
}

function glideOne(timeline: Timeline, command: Command, ms: number): void {
  const { viewport } = timeline;
  const length = lengthOf(viewport.target);
  const anchor = timeline.pointerTime ?? (viewport.target.start + viewport.target.end) / 2;
  if (command === "zoomIn") viewport.zoom(ZOOM_PER_MS ** -ms, anchor, true);
  if (command === "zoomOut") viewport.zoom(ZOOM_PER_MS ** ms, anchor, true);
  if (command === "panLeft") viewport.pan(-length * PAN_PER_MS * ms, true);
  if (command === "panRight") viewport.pan(length * PAN_PER_MS * ms, true);
  if (command === "scrollUp") viewport.scrollBy(-SCROLL_PER_MS * ms);
  if (command === "scrollDown") viewport.scrollBy(SCROLL_PER_MS * ms);
}
