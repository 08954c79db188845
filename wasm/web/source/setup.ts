import type { Align, Setup } from "./protocol";

/** Whether both align traces in the same way. */
export const isSameAlign = (a: Align = "clocks", b: Align = "clocks"): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

/** Whether both set the screen up in the same way. */
export const isSameSetup = (a: Setup, b: Setup): boolean =>
  isSameAlign(a.align, b.align) && (a.frames ?? true) === (b.frames ?? true);
