import type { Align, Setup } from "./protocol";

/** Whether both lay traces over each other in one way; the core's own is by clocks. */
export const isSameAlign = (a: Align = "clocks", b: Align = "clocks"): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

/** Whether the core lays out both in one way. */
export const isSameSetup = (a: Setup, b: Setup): boolean =>
  isSameAlign(a.align, b.align) && (a.frames ?? true) === (b.frames ?? true);
