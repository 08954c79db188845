import assert from "node:assert/strict";
import { test } from "node:test";
import type { FlameFrames } from "../../../wasm/web/source/flame";
import { Flame, NO_EVENT } from "../../../wasm/web/timeline/flame";
import { FlameTree, NONE, WHOLE } from "../../../wasm/web/timeline/flame-tree";

/** main (10): step (4): mm (3), step2 (5); idle (6): mm (6). */
function frames(): FlameFrames {
  return {
    part: 0,
    reason: null,
    weight_name: "device_ns",
    unit: "ns",
    total: 16,
    unattributed: 0,
    num_unknown: 0,
    names: ["main", "step", "mm", "step2", "idle"],
    labels: [null, null, "matmul", null, null],
    kinds: ["operator"],
    start: Float64Array.of(0, 0, 0, 4, 10, 10),
    weight: Float64Array.of(10, 4, 3, 5, 6, 6),
    self: Float64Array.of(1, 1, 3, 5, 0, 6),
    count: Float64Array.of(1, 1, 1, 1, 1, 1),
    depth: Uint32Array.of(0, 1, 2, 1, 0, 1),
    name: Uint32Array.of(0, 1, 2, 3, 4, 2),
    id: Uint32Array.of(5, 6, 7, 8, NO_EVENT, 9),
    kind: Uint8Array.of(0, 0, 0, 0, 0, 0),
    library: Uint8Array.of(0, 0, 0, 0, 0, 0),
  };
}

const place = (weight: number) => (weight / 16) * WHOLE;

test("a frame is found by its level and place", () => {
  const tree = new FlameTree(frames());
  assert.deepEqual(
    tree.levels.map((rows) => [...rows]),
    [[0, 4], [1, 3, 5], [2]],
  );
  assert.equal(tree.at(1, place(4.5)), 3);
  assert.equal(tree.at(1, place(9.5)), NONE);
  assert.equal(tree.at(2, place(2.9)), 2);
  assert.equal(tree.at(3, place(1)), NONE);
  assert.deepEqual([...tree.parents], [NONE, 0, 1, 0, NONE, 4]);
});

test("keys go inwards to the widest frame, and sideways on a level", () => {
  const tree = new FlameTree(frames());
  assert.equal(tree.inner(0), 3);
  assert.equal(tree.inner(2), 2);
  assert.equal(tree.beside(1, 1), 3);
  assert.equal(tree.beside(5, 1), 5);
  assert.equal(tree.beside(4, -1), 0);
});

test("a search counts nested frames once, and finds labels", () => {
  const tree = new FlameTree(frames());
  assert.equal(tree.find("step").weight, 9);
  assert.equal(tree.find("MATMUL").weight, 9);
  assert.equal(tree.find("m").weight, 16);
});

/** A flame graph on a source without delay, what it asked for, and what it said. */
function opened(answer: FlameFrames = frames()) {
  const asked: object[] = [];
  const said: string[] = [];
  const source = {
    query: (_: string, ask: object) => {
      asked.push(ask);
      return answer as never;
    },
    copy: () => null,
    close: () => {},
  };
  const flame = new Flame(
    source,
    (error) => assert.fail(String(error)),
    (text) => said.push(text),
  );
  flame.viewport.calm = true;
  return { flame, asked, said };
}

test("the graph follows its options, and says what was chosen", () => {
  const { flame, asked, said } = opened();
  flame.open({ start: 1, end: 9 });
  flame.choose({ by: "stack", focus: undefined });
  assert.deepEqual(asked, [
    { start: 1, end: 9, trimmed: true, options: {} },
    { start: 1, end: 9, trimmed: true, options: { by: "stack" } },
  ]);
  flame.select(5);
  assert.equal(said.at(-1), "matmul, operator, 6 ns, 38 %, 1 call");
  flame.zoomTo(1);
  assert.deepEqual(flame.widest, [0, 1]);
});

test("the graph opens as it was left, and anew for another range", () => {
  const { flame, asked } = opened();
  flame.open({});
  flame.show({ iteration: 3 });
  flame.choose({ weight: "calls", focus: "step" });
  flame.find("mm");
  flame.zoomTo(1);
  flame.select(2);
  flame.hovered.set(1);
  const { length } = asked;
  flame.close();
  flame.open({});
  assert.equal(asked.length, length, "nothing is asked for again");
  assert.ok(flame.isOpen.value);
  assert.deepEqual(flame.about.value, { iteration: 3 });
  assert.deepEqual(flame.options.value, { weight: "calls", focus: "step" });
  assert.deepEqual([flame.chosen.value, flame.search.value?.text, flame.widest], [2, "mm", [0, 1]]);
  assert.equal(flame.hovered.value, NONE, "the pointer is elsewhere by now");
  flame.close();
  flame.open({ start: 1, end: 9 });
  assert.equal(flame.options.value.focus, undefined);
  assert.deepEqual([flame.chosen.value, flame.viewport.isWhole], [NONE, true]);
  flame.close();
  // Another alignment of the traces: the frames may be others.
  flame.renew();
  const before = asked.length;
  flame.open({ start: 1, end: 9 });
  assert.equal(asked.length, before + 1);
});

test("a host that names options gets a new graph", () => {
  const { flame, asked } = opened();
  flame.open({}, {});
  flame.open({}, { by: "stack" });
  assert.equal(asked.length, 2);
});

test("hits are walked in both directions, and narrow ones are zoomed to", () => {
  const answer = frames();
  // The last frame is a thousandth of all.
  const { flame } = opened({ ...answer, weight: Float64Array.of(10, 4, 3, 5, 6, 0.016), total: 16 });
  flame.open({});
  flame.find("mm");
  assert.deepEqual(flame.search.value?.rows, [2, 5]);
  const walk = (...ways: readonly (1 | -1)[]) =>
    ways.map((way) => {
      flame.nextHit(way);
      return flame.chosen.value;
    });
  assert.deepEqual(walk(1), [2]);
  assert.ok(flame.viewport.isWhole, "it can be seen");
  assert.deepEqual(walk(1, 1, -1), [5, 2, 5]);
  const { start, end } = flame.viewport.target;
  assert.ok((0.016 / 16) * WHOLE >= 0.3 * (end - start), "a third of the width");
  flame.select(3);
  assert.deepEqual(walk(-1), [2], "from the chosen frame on");
  flame.find("nothing is called so");
  assert.deepEqual(walk(1), [2], "without hits, the choice stays");
});
