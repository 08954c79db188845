declare const unit: unique symbol;

/** Nanoseconds since the trace's start. */
export type Time = number & { readonly [unit]: "time" };

/** A length of time in nanoseconds. */
export type Duration = number & { readonly [unit]: "duration" };

/** A half-open range: `end` is not included. */
export interface Span {
  readonly start: Time;
  readonly end: Time;
}

export const asTime = (ns: number): Time => ns as Time;
export const asDuration = (ns: number): Duration => ns as Duration;

export function span(start: number, end: number): Span {
  return start <= end ? { start: asTime(start), end: asTime(end) } : span(end, start);
}

export const lengthOf = (s: Span): Duration => asDuration(s.end - s.start);

export const contains = (outer: Span, inner: Span): boolean => outer.start <= inner.start && inner.end <= outer.end;

/** The intersection of two ranges; an empty range at the later start where they do not meet. */
export function common(a: Span, b: Span): Span {
  const start = Math.max(a.start, b.start);
  return span(start, Math.max(start, Math.min(a.end, b.end)));
}

/** The parts of `s` that none of `others` cover. `others` must ascend. */
export function uncovered(s: Span, others: readonly Span[]): readonly Span[] {
  const gaps: Span[] = [];
  let at = s.start;
  for (const other of others) {
    if (other.end <= at || other.start >= s.end) continue;
    if (other.start > at) gaps.push(span(at, other.start));
    at = other.end;
  }
  return at < s.end ? [...gaps, span(at, s.end)] : gaps;
}

/** Extends `s` by `ns` on both sides. */
export const padded = (s: Span, ns: number): Span => span(s.start - ns, s.end + ns);

/** Moves `s` by `ns`. */
export const moved = (s: Span, ns: number): Span => span(s.start + ns, s.end + ns);

/** Moves `s` inside `outer`, or returns `outer` where `s` is longer. */
export function confined(s: Span, outer: Span): Span {
  if (lengthOf(s) >= lengthOf(outer)) return outer;
  if (s.start < outer.start) return moved(s, outer.start - s.start);
  if (s.end > outer.end) return moved(s, outer.end - s.end);
  return s;
}
