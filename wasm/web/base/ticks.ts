import type { Span } from "./time";

export interface Ticks {
  /** Labels count from here; 0 unless they would grow too long. */
  readonly base: number;
  readonly step: number;
  readonly times: readonly number[];
}

/** The smallest of 1, 2, 5 × 10ⁿ ns that is at least `ns`. */
export function roundStep(ns: number): number {
  const decade = 10 ** Math.floor(Math.log10(Math.max(1, ns)));
  const factor = [1, 2, 5].find((f) => f * decade >= ns);
  return (factor ?? 10) * decade;
}

/** Round times in `window`, at least `minPixels` apart on a screen of `pixels`. */
export function ticksOf(window: Span, pixels: number, minPixels: number): Ticks {
  const length = Math.max(1, window.end - window.start);
  const step = roundStep((length * minPixels) / Math.max(1, pixels));
  const times: number[] = [];
  for (let k = Math.ceil(window.start / step); k * step <= window.end; k++) times.push(k * step);
  return { base: baseOf(window, step), step, times };
}

// Seven digits fit beside a tick. For more, the corner shows the common part.
function baseOf(window: Span, step: number): number {
  const edge = Math.max(Math.abs(window.start), Math.abs(window.end));
  if (edge / step < 1e4) return 0;
  const coarse = roundStep((window.end - window.start) * 2);
  return Math.floor(window.start / coarse) * coarse;
}
