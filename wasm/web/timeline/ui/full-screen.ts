import type { Timeline } from "../timeline";

/** Whether the host lets the timeline have the whole screen: a frame of a page may not. */
export const canFillScreen = (): boolean => document.fullscreenEnabled === true;

/** Gives the timeline the whole screen, or back the room that it had. */
export async function toggleFullScreen(timeline: Timeline, root: HTMLElement): Promise<void> {
  const frame = root.parentElement ?? root;
  const owner = root.getRootNode();
  const holder = owner instanceof ShadowRoot ? owner : document;
  try {
    if (holder.fullscreenElement === frame) await document.exitFullscreen();
    else await frame.requestFullscreen();
  } catch {
    timeline.error.set("The browser or the page around the timeline does not let it have the whole screen.");
  }
}
