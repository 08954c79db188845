import assert from "node:assert/strict";
import { test } from "node:test";
import { span } from "../../../wasm/web/base/time";
import type { Look } from "../../../wasm/web/timeline/look";
import { paintHits } from "../../../wasm/web/timeline/paint/hits";
import { type Box, sceneOf, type Tools } from "../../../wasm/web/timeline/paint/scene";
import { Timeline } from "../../../wasm/web/timeline/timeline";
import { FakeSource } from "./fake-source";

const COUNT = 50_000;

function open(isLate = false): { source: FakeSource; timeline: Timeline } {
  const source = new FakeSource({ count: COUNT, isLate });
  const timeline = new Timeline(source, source.overview);
  timeline.viewport.calm = true;
  timeline.size.set({ width: 1000, height: 400 });
  return { source, timeline };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

const selectedId = (timeline: Timeline) => timeline.selection.current.value?.details.id;

test("stepping reaches hits beyond the loaded ones, in both directions and wrapping around", () => {
  const { timeline } = open();
  timeline.find("kernel");
  assert.equal(timeline.search.found.value?.hits.count, COUNT);
  timeline.viewport.show(span(0, 1000));
  timeline.step(-1);
  assert.equal(selectedId(timeline), 2 * COUNT - 1, "the last of all");
  timeline.step(1);
  assert.equal(selectedId(timeline), COUNT);
  for (let i = 0; i < 20_000; i++) timeline.search.step(1, span(0, 0).start, () => {});
  timeline.step(1);
  assert.equal(selectedId(timeline), COUNT + 20_001);
  assert.equal(timeline.search.found.value?.at, 20_001);
  timeline.step(-1);
  assert.equal(selectedId(timeline), COUNT + 20_000);
  assert.ok((timeline.search.found.value?.hits.id.length ?? 0) <= 20_000, "few of them are known at once");
});

test("without a current hit, the next one is at or after the left edge", async () => {
  for (const isLate of [false, true]) {
    const { timeline } = open(isLate);
    timeline.find("kernel");
    await settled();
    timeline.viewport.show(span(900_095, 901_000));
    timeline.step(1);
    await settled();
    assert.equal(selectedId(timeline), COUNT + 45_000);
    timeline.step(-1);
    await settled();
    assert.equal(selectedId(timeline), COUNT + 44_999);
  }
});

test("fast steps end at the last requested hit", async () => {
  const { timeline } = open(true);
  timeline.find("kernel");
  await settled();
  timeline.viewport.show(span(0, 1000));
  timeline.step(1);
  await settled();
  for (let i = 0; i < 3; i++) timeline.step(-1);
  assert.equal(timeline.search.found.value?.at, COUNT - 3);
  await settled();
  assert.equal(selectedId(timeline), 2 * COUNT - 3);
});

test("steps before the first answer all count", async () => {
  for (const [by, place] of [
    [1, 2],
    [-1, COUNT - 3],
  ] as const) {
    const { timeline } = open(true);
    timeline.find("kernel");
    await settled();
    timeline.viewport.show(span(0, 1000));
    for (let i = 0; i < 3; i++) timeline.step(by);
    await settled();
    await settled();
    assert.equal(timeline.search.found.value?.at, place);
    assert.equal(selectedId(timeline), COUNT + place);
  }
});

test("every hit is highlighted, loaded or not", () => {
  const { timeline } = open();
  timeline.find("kernel");
  const [piece] = timeline.tiles.pieces(1, timeline.viewport.window.value, 1000);
  assert.ok(piece);
  assert.deepEqual(new Set(timeline.search.hitsIn(piece.trackTiles)), new Set([1]));
});

/** The marked ranges in the row of the kernels. */
function marked(timeline: Timeline): readonly Box[] {
  const size = { cssWidth: 1000, cssHeight: 400, dpr: 1 };
  const scene = sceneOf(timeline, { hit: "red" } as Look, {} as Tools, size);
  const fills: Box[] = [];
  const context = {
    fillRect: (x: number, y: number, width: number, height: number) => fills.push({ x, y, width, height }),
  } as Partial<CanvasRenderingContext2D> as CanvasRenderingContext2D;
  const marks = timeline.search.marksIn(timeline.viewport.window.value, 1000);
  const row = timeline.layout.value.rowOf.get(1);
  assert.ok(marks && row);
  paintHits(context, scene, row, marks);
  return fills;
}

test("marks cover the whole trace, and their number is limited", () => {
  const { source, timeline } = open();
  timeline.find("kernel");
  const fills = marked(timeline);
  const covered = fills.reduce((sum, { width }) => sum + width, 0);
  assert.ok(fills.length < 20 && covered > 950, `${covered} pixels in ${fills.length} pieces`);
  assert.ok((fills.at(-1)?.x ?? 0) + (fills.at(-1)?.width ?? 0) > 980, "to the end");
  assert.ok(source.markAsks.every(({ pixels }) => pixels <= 4000));
  marked(timeline);
  assert.equal(source.markAsks.length, 1, "once for a window");
});

test("zoomed in, each hit has its mark", () => {
  const { timeline } = open();
  timeline.find("kernel");
  timeline.viewport.show(span(900_005, 900_195));
  assert.equal(marked(timeline).length, 10);
});

test("moving keeps the old marks, and new ones are requested when the picture rests", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { source, timeline } = open();
  timeline.find("kernel");
  marked(timeline);
  for (const start of [900_005, 900_405, 900_805]) {
    timeline.viewport.show(span(start, start + 190));
    marked(timeline);
    context.mock.timers.tick(16);
  }
  assert.equal(source.markAsks.length, 1);
  let placed = 0;
  timeline.search.placed.subscribe(() => placed++);
  context.mock.timers.tick(80);
  assert.equal(source.markAsks.length, 2);
  assert.equal(placed, 1, "the picture is drawn anew");
  assert.equal(marked(timeline).length, 10);
  timeline.viewport.show(span(0, 190));
  marked(timeline);
  timeline.close();
  context.mock.timers.tick(80);
  assert.equal(source.markAsks.length, 2, "nobody is asked any more");
});

test("a few hits need no further request", () => {
  const source = new FakeSource();
  const timeline = new Timeline(source, source.overview);
  timeline.size.set({ width: 1000, height: 400 });
  timeline.find("kernel");
  timeline.viewport.show(span(105, 295));
  assert.equal(marked(timeline).length, 10);
  assert.equal(source.markAsks.length, 0);
});
