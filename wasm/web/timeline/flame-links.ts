import { isComparison } from "./changes";
import { NO_EVENT } from "./flame";
import type { Timeline } from "./timeline";

/** Opens the flame graph of the marked range, or of everything; or closes it. */
export function toggleFlame({ flame, range, overview }: Timeline): void {
  if (flame.isOpen.value) {
    flame.close();
    return;
  }
  const marked = range.span.value;
  if (isComparison(overview) && !marked) {
    flame.open({ part: 1, against: 0 });
    return;
  }
  const of = overview.parts.length > 1 ? { part: range.part.value } : {};
  flame.open(marked ? { ...of, start: marked.start, end: marked.end } : of);
}

/** Closes the flame graph and goes to the largest call of its chosen frame. */
export function visitFrame(timeline: Timeline): void {
  const { flame } = timeline;
  const { id: after, before_id: before } = flame.tree.value?.frames ?? {};
  const ids = [after, before].map((ids) => ids?.[flame.chosen.value]);
  const id = ids.find((one) => one !== undefined && one !== NO_EVENT);
  if (id === undefined) return;
  flame.close();
  timeline.go(id);
}
