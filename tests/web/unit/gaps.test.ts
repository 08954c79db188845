import assert from "node:assert/strict";
import { test } from "node:test";
import { span } from "../../../wasm/web/base/time";
import { COMMANDS } from "../../../wasm/web/timeline/input/commands";
import type { Command } from "../../../wasm/web/timeline/input/keymap";
import { subjectOf } from "../../../wasm/web/timeline/noting";
import { Timeline } from "../../../wasm/web/timeline/timeline";
import { AROUND, FakeSource } from "./fake-source";

function open(): Timeline {
  const source = new FakeSource();
  const timeline = new Timeline(source, source.overview);
  timeline.viewport.calm = true;
  timeline.size.set({ width: 1000, height: 400 });
  return timeline;
}

const run = (timeline: Timeline, command: Command): void => COMMANDS[command](timeline, AROUND);

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
