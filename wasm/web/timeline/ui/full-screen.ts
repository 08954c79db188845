import type { Timeline } from "../timeline";

/** Whether the host allows full screen: a frame may not. */
export const canFillScreen = (): boolean => document.fullscreenEnabled === true;

/** Enters or leaves full screen. */
export async function toggleFullScreen(timeline: Timeline, root: HTMLElement): Promise<void> {
  const frame = root.parentElement ?? root;
  const owner = root.getRootNode();
  const holder = owner instanceof ShadowRoot ? owner : document;
  try {
    if (holder.fullscreenElement === frame) await document.exitFullscreen();
    else await frame.requestFullscreen();
  } catch {
    timeline.error.set("The browser or the page around the timeline forbids full screen.");
  }
}
