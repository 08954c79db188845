import { asTime, type Span, span, type Time } from "./time";

/** A linear map from time to pixels. */
export interface Scale {
  readonly window: Span;
  readonly width: number;
  /** Nanoseconds per pixel. */
  readonly nsPerPixel: number;
  x(time: number): number;
  time(x: number): Time;
}

export function scaleOf(window: Span, width: number): Scale {
  const nsPerPixel = (window.end - window.start) / Math.max(1, width);
  const { start } = window;
  return {
    window,
    width,
    nsPerPixel,
    x: (time) => (time - start) / nsPerPixel,
    time: (x) => asTime(start + x * nsPerPixel),
  };
}

/** Scales `window` by `factor` around `anchor`, a time in nanoseconds. */
export function zoomed(window: Span, factor: number, anchor: number): Span {
  return span(anchor - (anchor - window.start) * factor, anchor + (window.end - anchor) * factor);
}

/** Interpolates from `from` to `to`; `way` goes from 0 to 1. */
export function between(from: Span, to: Span, way: number): Span {
  return span(from.start + (to.start - from.start) * way, from.end + (to.end - from.end) * way);
}
