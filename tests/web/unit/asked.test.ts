import assert from "node:assert/strict";
import { test } from "node:test";
import { span } from "../../../wasm/web/base/time";
import { COMMANDS } from "../../../wasm/web/timeline/input/commands";
import { Timeline } from "../../../wasm/web/timeline/timeline";
import { AROUND, FakeSource } from "./fake-source";

function over(source: FakeSource, height = 400): Timeline {
  const timeline = new Timeline(source, source.overview);
  timeline.viewport.calm = true;
  timeline.size.set({ width: 1000, height });
  return timeline;
}

test("of several traces that one is summed up on whose tracks the range was marked, or which is chosen", () => {
  const source = new FakeSource();
  const timeline = over(source);
  timeline.mark(span(100, 400), true, 3);
  timeline.mark(span(100, 500), true);
  timeline.range.choosePart(1);
  assert.deepEqual(
    source.summaryAsks.map(({ part }) => part),
    [3, 3, 1],
  );
  assert.ok(timeline.range.summary.value);
});

test("a range ends where the trace does", () => {
  const source = new FakeSource();
  const timeline = over(source);
  const { duration } = timeline.overview;
  timeline.mark(span(-500, duration + 900), true);
  assert.deepEqual(timeline.range.span.value, span(0, duration));
  timeline.mark(span(duration + 5, duration + 9), true);
  assert.equal(timeline.range.summary.value !== null && source.summaryAsks.length, 2);
});

test("counters that lie beyond the screen are gone to when they are asked for", () => {
  const source = new FakeSource({ lanes: 60 });
  source.counters = [{ counter: 0, part: 0, group: 1, name: "busy", unit: "share", least: 0, greatest: 1 }];
  const timeline = over(source, 300);
  COMMANDS.toggleCounters(timeline, AROUND);
  assert.ok(timeline.shownRows.some(({ kind }) => kind === "counter"));
});
