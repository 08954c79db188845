import assert from "node:assert/strict";
import { test } from "node:test";
import { asDuration, asTime, span } from "../../../wasm/web/base/time";
import type { Iteration } from "../../../wasm/web/source/protocol";
import { baseOf, exchangeRanges, markBeside, markIteration } from "../../../wasm/web/timeline/comparing";
import { COMMANDS } from "../../../wasm/web/timeline/input/commands";
import { Timeline } from "../../../wasm/web/timeline/timeline";
import { AROUND, FakeSource } from "./fake-source";

const iteration = (at: number): Iteration => ({
  iteration: at,
  name: `ProfilerStep#${at}`,
  start: asTime(100 * at),
  dur: asDuration(100),
});
const ITERATIONS = [iteration(1), iteration(2), iteration(3)] as const;
const [FIRST, SECOND, THIRD] = ITERATIONS;

function open(): Timeline {
  const source = new FakeSource();
  return new Timeline(source, { ...source.overview, iterations: ITERATIONS });
}

/** The first range, the second, and what the details are about. */
const stateOf = ({ comparison, range, details }: Timeline) => [
  comparison.base.value,
  range.span.value,
  details.open.value,
];

test("a second iteration is compared with the first, and so is a third", () => {
  const timeline = open();
  markIteration(timeline, FIRST);
  assert.deepEqual(stateOf(timeline), [null, span(100, 200), "range"]);
  markIteration(timeline, SECOND);
  assert.deepEqual(stateOf(timeline), [span(100, 200), span(200, 300), "compare"]);
  markIteration(timeline, THIRD);
  assert.deepEqual(stateOf(timeline), [span(100, 200), span(300, 400), "compare"]);
  markIteration(timeline, FIRST);
  assert.deepEqual(stateOf(timeline), [null, span(100, 200), "range"], "the first one alone again");
});

test("a range that is no iteration is replaced by a clicked iteration", () => {
  const timeline = open();
  timeline.mark(span(120, 150), true);
  markIteration(timeline, SECOND);
  assert.deepEqual(stateOf(timeline), [null, span(200, 300), "range"]);
});

test("a second range may be any; Escape ends the comparison first", () => {
  const timeline = open();
  timeline.mark(span(120, 150), true);
  const base = baseOf(timeline);
  assert.ok(base);
  markBeside(timeline, base, span(310, 320), false);
  markBeside(timeline, base, span(310, 350), true);
  assert.deepEqual(stateOf(timeline), [span(120, 150), span(310, 350), "compare"]);
  exchangeRanges(timeline);
  assert.deepEqual(stateOf(timeline), [span(310, 350), span(120, 150), "compare"]);
  COMMANDS.clear(timeline, AROUND);
  assert.deepEqual(stateOf(timeline), [null, span(120, 150), "range"]);
  COMMANDS.clear(timeline, AROUND);
  assert.deepEqual(stateOf(timeline), [null, null, null]);
});

test("without a range there is none to compare with", () => {
  assert.equal(baseOf(open()), null);
});
