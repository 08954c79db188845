import assert from "node:assert/strict";
import { test } from "node:test";
import { span } from "../../../wasm/web/base/time";
import { subjectOf } from "../../../wasm/web/timeline/noting";
import type { Timeline } from "../../../wasm/web/timeline/timeline";
import { open, run } from "./opened";

const selectedId = (timeline: Timeline) => timeline.selection.current.value?.details.id;

test("a click on idle time explains and selects it", () => {
  const timeline = open();
  timeline.select(3);
  timeline.explain(1, 135);
  assert.deepEqual([timeline.details.open.value, timeline.said.value], ["gap", "Idle for 10 ns: so"]);
  const { start, end } = subjectOf(timeline);
  assert.deepEqual([start, end], [130, 140]);
  run(timeline, "markSelection");
  assert.deepEqual([timeline.range.span.value, timeline.details.open.value], [span(130, 140), "range"]);
  timeline.details.open.set("gap");
  run(timeline, "focus");
  assert.deepEqual(timeline.viewport.target, span(128.75, 141.25));
  run(timeline, "clear");
  assert.deepEqual(
    [timeline.gaps.current.value, timeline.details.open.value, selectedId(timeline)],
    [null, "event", 3],
  );
});

test("a click on a busy stream changes nothing", () => {
  const timeline = open();
  timeline.select(3);
  timeline.explain(1, 125);
  assert.deepEqual([timeline.gaps.current.value, timeline.details.open.value], [null, "event"]);
  run(timeline, "explainIdle");
  assert.equal(timeline.said.value, "No idle time before this event");
});
