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

test("the graph follows its options, and says what was chosen", () => {
  const asked: object[] = [];
  const said: string[] = [];
  const source = {
    query: (_: string, ask: object) => {
      asked.push(ask);
      return frames() as never;
    },
    copy: () => null,
    close: () => {},
  };
  const flame = new Flame(
    source,
    (error) => assert.fail(String(error)),
    (text) => said.push(text),
  );
  flame.open({ start: 1, end: 9 });
  flame.choose({ by: "stack", focus: undefined });
  assert.deepEqual(asked, [
    { start: 1, end: 9, trimmed: true, options: {} },
    { start: 1, end: 9, trimmed: true, options: { by: "stack" } },
  ]);
  flame.select(5);
  assert.equal(said.at(-1), "matmul, operator, 6 ns, 38 %, 1 call");
  flame.viewport.calm = true;
  flame.zoomTo(1);
  assert.deepEqual(flame.widest, [0, 1]);
});
