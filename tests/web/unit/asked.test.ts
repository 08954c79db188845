import assert from "node:assert/strict";
import { test } from "node:test";
import { span } from "../../../wasm/web/base/time";
import { COMMANDS } from "../../../wasm/web/timeline/input/commands";
import type { Selected } from "../../../wasm/web/timeline/selection";
import { Timeline } from "../../../wasm/web/timeline/timeline";
import { linesOf } from "../../../wasm/web/timeline/ui/relations";
import { AROUND, FakeSource } from "./fake-source";

function over(source: FakeSource, height = 400): Timeline {
  const timeline = new Timeline(source, source.overview);
  timeline.viewport.calm = true;
  timeline.size.set({ width: 1000, height });
  return timeline;
}

test("the summary is about the trace on whose tracks the range was marked, or the chosen one", () => {
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

test("a range ends at the end of the trace", () => {
  const source = new FakeSource();
  const timeline = over(source);
  const { duration } = timeline.overview;
  timeline.mark(span(-500, duration + 900), true);
  assert.deepEqual(timeline.range.span.value, span(0, duration));
  timeline.mark(span(duration + 5, duration + 9), true);
  assert.equal(timeline.range.summary.value !== null && source.summaryAsks.length, 2);
});

test("showing counters scrolls to them", () => {
  const source = new FakeSource({ lanes: 60 });
  source.counters = [{ counter: 0, part: 0, group: 1, name: "busy", unit: "share", least: 0, greatest: 1 }];
  const timeline = over(source, 300);
  COMMANDS.toggleCounters(timeline, AROUND);
  assert.ok(timeline.shownRows.some(({ kind }) => kind === "counter"));
});

test("both sides of a wait name each other", () => {
  const source = new FakeSource();
  const timeline = over(source);
  const [ended, went] = [7, 8].map((id) => ({
    id,
    name: `e${id}`,
    label: "",
    kind: "kernel",
    track: 0,
    lane: 0,
    start: 0,
    dur: 1,
  }));
  const links = [{ kind: "sync", source: ended, target: went }];
  const lines = (id: number) =>
    linesOf(timeline, {
      details: { id, modules: [], partners: [], launch: null, operator: null, frame: null, annotation: null },
      links,
    } as unknown as Selected).map(({ role, event }) => `${role} ${event.id}`);
  assert.deepEqual(lines(7), ["awaited by 8"]);
  assert.deepEqual(lines(8), ["waits for 7"]);
});

test("an analysis of a range uses the chosen trace and order", () => {
  const timeline = over(new FakeSource());
  const { range } = timeline;
  range.askFor("kernels");
  range.ask({ order: { table: "kernels", column: "max_ns", descends: true } });
  range.choosePart(0);
  assert.equal(range.asking.value.order?.column, "max_ns");
  assert.equal(range.asked.value, 0);
  range.askFor("operators");
  assert.equal(range.asking.value.order, null, "another table has other columns");
  range.choosePart(null);
  assert.equal(range.part.value, 0, "of all, one is summed up");
});
