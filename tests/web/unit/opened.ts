import { COMMANDS } from "../../../wasm/web/timeline/input/commands";
import type { Command } from "../../../wasm/web/timeline/input/keymap";
import { Timeline } from "../../../wasm/web/timeline/timeline";
import { AROUND, FakeSource } from "./fake-source";

/** A timeline of a fake source in a window of a usual size, without animations. */
export function open(options = {}): Timeline {
  const source = new FakeSource(options);
  const timeline = new Timeline(source, source.overview);
  timeline.viewport.calm = true;
  timeline.size.set({ width: 1000, height: 400 });
  return timeline;
}

export const run = (timeline: Timeline, command: Command): void => COMMANDS[command](timeline, AROUND);

/** Waits for pending promises. */
export const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));
