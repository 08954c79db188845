import { type Span, span } from "../base/time";
import type { Iteration } from "../source/protocol";
import type { Timeline } from "./timeline";

/** Marks a second range, and compares it with the first, which stays for further ones. */
export function markOther(timeline: Timeline, wanted: Span, settled: boolean, part?: number): void {
  const base = timeline.comparison.base.value ?? timeline.range.span.value;
  timeline.mark(wanted, settled, part);
  timeline.comparison.base.set(base);
  if (base && settled) timeline.details.open.set("compare");
}

/** Marks an iteration. Compares it with another one that is marked. */
export function markIteration(timeline: Timeline, { start, dur }: Iteration): void {
  const wanted = span(start, start + dur);
  const base = timeline.comparison.base.value ?? timeline.range.span.value;
  const isIteration = timeline.overview.iterations.some((one) => isRange(base, span(one.start, one.start + one.dur)));
  if (isIteration && !isRange(base, wanted)) markOther(timeline, wanted, true);
  else timeline.mark(wanted, true);
}

const isRange = (range: Span | null, { start, end }: Span): boolean => range?.start === start && range.end === end;

/** Compares the other way around. */
export function exchangeRanges(timeline: Timeline): void {
  const [base, range] = [timeline.comparison.base.value, timeline.range.span.value];
  if (!base || !range) return;
  timeline.comparison.base.set(range);
  markOther(timeline, base, true);
}
