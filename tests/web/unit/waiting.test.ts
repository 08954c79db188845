import assert from "node:assert/strict";
import { test } from "node:test";
import { span } from "../../../wasm/web/base/time";
import type { Look } from "../../../wasm/web/timeline/look";
import { paintLoading } from "../../../wasm/web/timeline/paint/loading";
import { lanesOf, sceneOf, type Tools } from "../../../wasm/web/timeline/paint/scene";
import { TileCache } from "../../../wasm/web/timeline/tile-cache";
import { Timeline } from "../../../wasm/web/timeline/timeline";
import { Waiting } from "../../../wasm/web/timeline/waiting";
import { FakeSource } from "./fake-source";

/** Waits for pending promises. */
const settled = () => new Promise((resolve) => setTimeout(resolve));

const caching = (isLate: boolean) => {
  const clock = { ms: 0 };
  const source = new FakeSource({ isLate, count: 500 });
  return {
    source,
    clock,
    cache: new TileCache(
      source,
      () => {},
      assert.ifError,
      () => clock.ms,
    ),
  };
};

test("a range without tiles is a hole until the first answer", async () => {
  const { cache, clock } = caching(true);
  cache.pieces(0, span(0, 4000), 100);
  clock.ms = 200;
  assert.deepEqual(cache.holes(0), [{ span: span(0, 8192), waited: 200 }]);
  await settled();
  cache.pieces(0, span(0, 4000), 100);
  assert.deepEqual(cache.holes(0), []);
});

test("a source that answers at once leaves no hole", () => {
  const { cache } = caching(false);
  cache.pieces(0, span(0, 4000), 100);
  assert.deepEqual(cache.holes(0), []);
});

test("a failed answer leaves no hole", () => {
  const { source, cache } = caching(false);
  source.query = () => {
    throw new Error("no");
  };
  const failing = new TileCache(
    source,
    () => {},
    () => {},
  );
  failing.pieces(0, span(0, 4000), 100);
  assert.deepEqual(failing.holes(0), []);
  assert.deepEqual(cache.holes(0), []);
});

test("zooming in and out again shows coarse tiles where finer ones are missing", async () => {
  const { cache } = caching(true);
  const windows = [span(0, 8000), span(1000, 1100)];
  for (const window of windows) {
    cache.pieces(0, window, 100);
    await settled();
    cache.pieces(0, window, 100);
  }
  for (const window of [span(900, 1300), span(0, 2100), span(0, 4000)]) {
    const pieces = cache.pieces(0, window, 100);
    assert.ok((pieces[0]?.span.start ?? 9e9) <= window.start && (pieces.at(-1)?.span.end ?? 0) >= window.end);
    for (const [i, piece] of pieces.slice(1).entries()) assert.equal(piece.span.start, pieces[i]?.span.end);
    assert.deepEqual(cache.holes(0), []);
  }
});

test("a short wait has no sign, a long one is announced once, with its end", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const said: string[] = [];
  let asked = 0;
  const waiting = new Waiting(
    () => asked++,
    (text) => said.push(text),
  );
  waiting.tell([0, 10]);
  assert.equal(waiting.isBusy.value, false);
  context.mock.timers.tick(139);
  assert.equal(asked, 0);
  context.mock.timers.tick(1);
  assert.equal(asked, 1, "the picture is drawn anew when the sign is due");
  waiting.tell([150]);
  assert.ok(waiting.isBusy.value);
  assert.deepEqual(said, []);
  context.mock.timers.tick(850);
  assert.equal(asked, 2);
  waiting.tell([1000, 5]);
  waiting.tell([1016]);
  waiting.tell([20]);
  assert.deepEqual(said, ["Loading events"]);
  waiting.tell([]);
  assert.ok(!waiting.isBusy.value);
  assert.deepEqual(said, ["Loading events", "Events loaded"]);
  context.mock.timers.tick(5000);
  assert.equal(asked, 2);
});

/** Draws a track without tiles, `ms` milliseconds after its request. */
function drawnAfter(ms: number): { texts: string[]; numFills: number } {
  const source = new FakeSource({ isLate: true });
  source.query = () => new Promise(() => {});
  const timeline = new Timeline(source, source.overview);
  timeline.size.set({ width: 1000, height: 400 });
  const look = { muted: "grey", background: "white", band: "grey" } as Look;
  const scene = sceneOf(timeline, look, {} as Tools, { cssWidth: 1000, cssHeight: 400, dpr: 1 });
  const row = timeline.layout.value.rowOf.get(0);
  const [track] = source.overview.tracks;
  assert.ok(row && track);
  const { holes, ...lanes } = lanesOf(scene, row, track);
  assert.ok(holes.length > 0);
  const drawn = { texts: [] as string[], numFills: 0 };
  const context = {
    fillRect: () => drawn.numFills++,
    strokeText: () => {},
    fillText: (text: string) => drawn.texts.push(text),
  } as Partial<CanvasRenderingContext2D> as CanvasRenderingContext2D;
  const canvas = { getContext: () => null };
  Object.assign(globalThis, { document: { createElement: () => canvas } });
  // Requests in pieces have one sign.
  const pieces = [span(-40, 0), span(0, 500), span(500, 9000)];
  timeline.waiting.tell([ms]);
  timeline.waiting.close();
  paintLoading(context, scene, { ...lanes, holes: pieces.map((piece) => ({ span: piece, waited: ms })) });
  return drawn;
}

test("a row says that it is loading after a delay", () => {
  assert.deepEqual(drawnAfter(100), { texts: [], numFills: 0 });
  const late = drawnAfter(200);
  assert.deepEqual(late.texts, ["loading…"]);
  assert.equal(late.numFills, 1);
});
