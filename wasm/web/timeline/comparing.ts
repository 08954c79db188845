import { type Span, span } from "../base/time";
import type { Iteration } from "../source/protocol";
import type { Timeline } from "./timeline";

/** The range that a further one is compared with; null without one. */
export const baseOf = ({ comparison, range }: Timeline): Span | null => comparison.base.value ?? range.span.value;

/** Marks a range beside `base`, and compares them. Further ones are compared with `base`, too. */
export function markBeside(timeline: Timeline, base: Span, wanted: Span, settled: boolean, part?: number): void {
  timeline.mark(wanted, settled, part);
  timeline.comparison.base.set(base);
  if (settled) timeline.details.open.set("compare");
}

/** Marks an iteration. Compares it with another one that is marked. */
export function markIteration(timeline: Timeline, { start, dur }: Iteration): void {
  const wanted = span(start, start + dur);
  const base = baseOf(timeline);
  const isIteration = timeline.overview.iterations.some((one) => isRange(base, span(one.start, one.start + one.dur)));
  if (base && isIteration && !isRange(base, wanted)) markBeside(timeline, base, wanted, true);
  else timeline.mark(wanted, true);
}

const isRange = (range: Span | null, { start, end }: Span): boolean => range?.start === start && range.end === end;

/** Compares the other way around. */
export function exchangeRanges(timeline: Timeline): void {
  const [base, range] = [timeline.comparison.base.value, timeline.range.span.value];
  if (base && range) markBeside(timeline, range, base, true);
}
