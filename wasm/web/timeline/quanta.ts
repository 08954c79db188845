import { lengthOf, type Span, span } from "../base/time";
import { levelOf } from "./tile-cache";

// Windows start and end at multiples of this many columns, so that small moves repeat a request.
const QUANTUM = 256;

/** A window at a resolution: the request, and its key in a cache. */
export interface Quanta {
  readonly key: string;
  readonly span: Span;
  readonly pixels: number;
}

/**
 * The window of whole quanta around `window` and half a screen on each side, at the next finer
 * power of two nanoseconds per pixel.
 */
export function quantaOf(window: Span, width: number): Quanta {
  const level = levelOf(window, width);
  const quantum = QUANTUM * 2 ** level;
  const margin = lengthOf(window) / 2;
  const first = Math.floor((window.start - margin) / quantum);
  const last = Math.ceil((window.end + margin) / quantum);
  return {
    key: `${level}:${first}:${last}`,
    span: span(first * quantum, last * quantum),
    pixels: (last - first) * QUANTUM,
  };
}
