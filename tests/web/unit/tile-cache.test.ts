import assert from "node:assert/strict";
import { test } from "node:test";
import { Lru } from "../../../wasm/web/base/lru";
import { span } from "../../../wasm/web/base/time";
import { TileCache, tileWindow } from "../../../wasm/web/timeline/tile-cache";
import { FakeSource } from "./fake-source";

const fail = (error?: unknown): never => {
  throw error;
};

test("a window is padded, quantised and as fine as the screen", () => {
  const { level, span: asked, pixels } = tileWindow(span(1000, 3000), 1000);
  assert.equal(level, 1);
  assert.ok(asked.start <= 0 && asked.end >= 4000, "half a screen on each side");
  assert.equal(asked.start % 512, 0);
  assert.equal((asked.end - asked.start) / pixels, 2, "two nanoseconds a pixel");
});

test("a window below a nanosecond a pixel has whole pixels too", () => {
  const { level, span: asked, pixels } = tileWindow(span(100, 110), 1000);
  assert.equal(level, -7);
  assert.ok(Number.isInteger(pixels));
  assert.ok(asked.start <= 95 && asked.end >= 115);
});

test("panning a little asks for nothing new", () => {
  const source = new FakeSource();
  const cache = new TileCache(source, fail, fail);
  for (let start = 200; start < 260; start += 5) cache.sheet(0, span(start, start + 200), 100);
  assert.deepEqual(source.asked, ["tiles"]);
  cache.sheet(1, span(200, 400), 100);
  assert.deepEqual(source.asked, ["tiles", "tiles"]);
});

test("coming back to a zoom asks for nothing new", () => {
  const source = new FakeSource();
  const cache = new TileCache(source, fail, fail);
  for (const end of [400, 800, 400, 800]) {
    cache.beginFrame();
    cache.sheet(0, span(0, end), 100);
  }
  assert.equal(source.asked.length, 2);
});

test("a late answer is asked for once, and told when it comes", async () => {
  const source = new FakeSource({ isLate: true });
  let arrived = 0;
  const cache = new TileCache(source, () => arrived++, fail);
  assert.equal(cache.sheet(0, span(0, 400), 100), null);
  assert.equal(cache.sheet(0, span(0, 400), 100), null);
  assert.deepEqual(source.asked, ["tiles"]);
  await Promise.resolve().then(() => {});
  assert.equal(arrived, 1);
  assert.equal(cache.sheet(0, span(0, 400), 100)?.length, 50);
});

test("while new tiles are on their way the old ones are drawn", async () => {
  const source = new FakeSource({ isLate: true });
  const cache = new TileCache(source, () => {}, fail);
  cache.sheet(0, span(0, 400), 100);
  await Promise.resolve().then(() => {});
  assert.ok(cache.sheet(0, span(0, 50), 100));
});

test("tiles are sorted by colour, each drawn once", () => {
  const cache = new TileCache(new FakeSource(), fail, fail);
  const sheet = cache.sheet(0, span(0, 400), 100);
  const coloring = sheet?.colored("kind", ["operator", "launch", "kernel"]);
  assert.deepEqual(
    [...(coloring?.order ?? [])].sort((a, b) => a - b),
    Array.from({ length: 50 }, (_, i) => i),
  );
});

test("what was not asked for longest is forgotten first", () => {
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

test("a failure is told once", () => {
  const errors: unknown[] = [];
  const source = new FakeSource();
  source.query = () => {
    throw new Error("no");
  };
  const cache = new TileCache(source, fail, (error) => errors.push(error));
  cache.sheet(0, span(0, 400), 100);
  cache.sheet(0, span(0, 400), 100);
  assert.equal(errors.length, 1);
});
