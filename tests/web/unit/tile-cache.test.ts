import assert from "node:assert/strict";
import { test } from "node:test";
import { Lru } from "../../../wasm/web/base/lru";
import { span } from "../../../wasm/web/base/time";
import { levelOf, TileCache } from "../../../wasm/web/timeline/tile-cache";
import { TrackTiles } from "../../../wasm/web/timeline/track-tiles";
import { FakeSource } from "./fake-source";

const fail = (error?: unknown): never => {
  throw error;
};

const asking = (options = {}, now = () => 0) => {
  const source = new FakeSource(options);
  const arrived = { count: 0 };
  const cache = new TileCache(source, () => arrived.count++, fail, now);
  return { source, cache, arrived };
};

/** Waits for pending promises. */
const settled = () => new Promise((resolve) => setTimeout(resolve));

test("the columns of tiles are as fine as the screen", () => {
  assert.equal(levelOf(span(1000, 3000), 1000), 1);
  assert.equal(levelOf(span(100, 110), 1000), -7);
});

test("requests lie on chunks for any window", () => {
  const { source, cache } = asking();
  for (let start = 0; start < 300; start += 7) cache.pieces(0, span(start, start + 300), 100);
  for (const { start, end, pixels } of source.tileAsks) {
    assert.equal(Math.abs(start % 512), 0);
    assert.equal((end - start) / pixels, 2, "two nanoseconds a column");
  }
});

test("tiles beside the window are requested ahead, so panning needs no request", () => {
  const { source, cache } = asking();
  cache.beginFrame(span(200, 400));
  cache.pieces(0, span(200, 400), 100);
  const before = source.asked.length;
  assert.equal(before, 3, "what is seen, and a chunk on each side");
  for (let start = 200; start < 230; start += 5) cache.pieces(0, span(start, start + 200), 100);
  assert.equal(source.asked.length, before);
});

test("scrolling tracks requests nothing ahead", () => {
  const { source, cache } = asking();
  const window = span(200, 400);
  cache.beginFrame(window);
  cache.pieces(0, window, 100);
  cache.beginFrame(window);
  for (const track of [0, 1, 2]) cache.pieces(track, window, 100);
  assert.deepEqual(
    source.tileAsks.slice(-2).map(({ start, end }) => [start, end]),
    [
      [0, 512],
      [0, 512],
    ],
  );
});

test("returning to a zoom needs no request", () => {
  const { source, cache } = asking();
  for (const end of [400, 800]) cache.pieces(0, span(0, end), 100);
  const before = source.asked.length;
  for (const end of [400, 800]) cache.pieces(0, span(0, end), 100);
  assert.equal(source.asked.length, before);
});

test("a pending answer is requested once, and its arrival reported", async () => {
  const { source, cache, arrived } = asking({ isLate: true });
  assert.deepEqual(cache.pieces(0, span(0, 400), 100), []);
  assert.deepEqual(cache.pieces(0, span(0, 400), 100), []);
  assert.equal(source.asked.length, 1);
  await settled();
  assert.equal(arrived.count, 1);
  assert.equal(cache.pieces(0, span(0, 400), 100)[0]?.trackTiles.length, 50);
});

test("a move requests new tiles while others are pending", async () => {
  const { source, cache } = asking({ isLate: true });
  cache.pieces(0, span(0, 400), 100);
  cache.pieces(0, span(900, 1300), 100);
  assert.deepEqual(
    source.tileAsks.map(({ start, end }) => [start, end]),
    [
      [0, 1024],
      [1024, 2048],
    ],
  );
  await settled();
  assert.equal(cache.pieces(0, span(900, 1300), 100).length, 2);
});

test("old tiles are drawn where new ones are pending", async () => {
  const { cache } = asking({ isLate: true, count: 500 });
  cache.pieces(0, span(0, 4000), 100);
  await settled();
  const [old] = cache.pieces(0, span(0, 4000), 100);
  const pieces = cache.pieces(0, span(1000, 1200), 100);
  assert.ok(old && pieces.length > 0 && pieces.every((piece) => piece.trackTiles === old.trackTiles));
  assert.ok((pieces[0]?.span.start ?? 0) >= 512 && (pieces.at(-1)?.span.end ?? 9e9) <= 1536, "no more than the hole");
});

test("the pieces cover the window, one after the other", () => {
  const { cache } = asking({ count: 500 });
  const pieces = cache.pieces(0, span(100, 5000), 1000);
  assert.ok((pieces[0]?.span.start ?? 9e9) <= 100 && (pieces.at(-1)?.span.end ?? 0) >= 5000);
  for (const [i, piece] of pieces.slice(1).entries()) assert.equal(piece.span.start, pieces[i]?.span.end);
});

test("requests beyond a frame's budget follow in later frames", () => {
  let ms = 0;
  const { source, cache, arrived } = asking({ count: 500 }, () => ms++ * 2);
  const frame = () => {
    cache.beginFrame(span(100, 5000));
    return cache.pieces(0, span(100, 5000), 1000);
  };
  frame();
  assert.ok(source.asked.length <= 2 && arrived.count === 1, "another frame is asked for");
  for (let i = 0; i < 10; i++) frame();
  assert.ok((frame().at(-1)?.span.end ?? 0) >= 5000);
});

test("tiles are found by lane and time", () => {
  const tiles = {
    names: ["a"],
    labels: [null],
    lane: Uint32Array.of(0, 0, 2, 2, 2),
    start: Float64Array.of(0, 50, 0, 20, 40),
    dur: Float64Array.of(40, 10, 10, 10, 10),
    kind: new Uint8Array(5),
    id: Uint32Array.of(1, 2, 3, 4, 5),
    count: new Uint32Array(5).fill(1),
    name: new Uint32Array(5),
    owners: null,
    owner: null,
  };
  const trackTiles = new TrackTiles(0, tiles);
  assert.deepEqual([trackTiles.firstIn(0, 30), trackTiles.firstIn(0, 41), trackTiles.laneEnd(0)], [0, 1, 2]);
  assert.deepEqual([trackTiles.firstIn(1, 0), trackTiles.laneEnd(1)], [2, 2], "an empty lane");
  assert.deepEqual([trackTiles.firstIn(2, 15), trackTiles.firstIn(2, 99), trackTiles.laneEnd(2)], [3, 5, 5]);
  assert.deepEqual([trackTiles.firstIn(7, 0), trackTiles.laneEnd(7)], [5, 5], "a lane that is not there");
});

test("the least recently used tiles are discarded first", () => {
  const lru = new Lru<string, number>(10, (weight) => weight);
  lru.set("a", 4);
  lru.set("b", 4);
  lru.get("a");
  lru.set("c", 5);
  assert.deepEqual([lru.get("a"), lru.get("b"), lru.get("c")], [4, undefined, 5]);
  lru.set("c", 1);
  lru.set("d", 5);
  assert.deepEqual([lru.get("a"), lru.get("c"), lru.get("d")], [4, 1, 5]);
  lru.set("e", 99);
  assert.deepEqual([lru.get("d"), lru.get("e")], [undefined, 99], "the last one stays, whatever it weighs");
});

test("a failure is reported once", () => {
  const errors: unknown[] = [];
  const source = new FakeSource();
  source.query = () => {
    throw new Error("no");
  };
  const cache = new TileCache(source, fail, (error) => errors.push(error));
  cache.pieces(0, span(0, 400), 100);
  cache.pieces(0, span(0, 400), 100);
  assert.equal(errors.length, 1);
});
