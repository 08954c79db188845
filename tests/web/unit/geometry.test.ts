import assert from "node:assert/strict";
import { test } from "node:test";
import { scaleOf, zoomed } from "../../../wasm/web/base/scale";
import { lastAtMost, TextFitter } from "../../../wasm/web/base/text";
import { roundStep, ticksOf } from "../../../wasm/web/base/ticks";
import { confined, lengthOf, span } from "../../../wasm/web/base/time";

test("a scale maps time to pixels and back", () => {
  const scale = scaleOf(span(1000, 3000), 200);
  assert.equal(scale.nsPerPixel, 10);
  assert.equal(scale.x(1500), 50);
  assert.equal(scale.time(50), 1500);
});

test("zooming keeps the anchor in place", () => {
  const before = span(0, 1000);
  const after = zoomed(before, 0.5, 250);
  assert.equal(lengthOf(after), 500);
  assert.equal(scaleOf(before, 100).x(250), scaleOf(after, 100).x(250));
});

test("a span is moved inside another one without a change of length if it fits", () => {
  assert.deepEqual(confined(span(-10, 10), span(0, 100)), span(0, 20));
  assert.deepEqual(confined(span(95, 115), span(0, 100)), span(80, 100));
  assert.deepEqual(confined(span(-50, 500), span(0, 100)), span(0, 100));
});

test("a span always starts before it ends", () => {
  assert.deepEqual(span(5, 2), { start: 2, end: 5 });
});

test("ticks are round and not too close", () => {
  assert.deepEqual([1, 3, 70, 1001].map(roundStep), [1, 5, 100, 2000]);
  const ticks = ticksOf(span(0, 1_000_000), 1000, 90);
  assert.equal(ticks.step, 100_000);
  assert.equal(ticks.base, 0);
  assert.equal(ticks.times.length, 11);
});

test("far from the start, ticks count from a base", () => {
  const ticks = ticksOf(span(1_295_000_120, 1_295_000_620), 1000, 90);
  assert.equal(ticks.base, 1_295_000_000);
  assert.ok(ticks.times.every((time) => time - ticks.base <= 1000));
});

test("texts are shortened to their width", () => {
  const fitter = new TextFitter((text) => text.length * 10);
  assert.equal(fitter.fit("aten::mm", 80), "aten::mm");
  assert.equal(fitter.fit("aten::mm", 79), "aten::…");
  assert.equal(fitter.fit("aten::mm", 25), "");
  assert.equal(fitter.fit("x".repeat(20_000), 80), "xxxxxxx…");
  assert.equal(lastAtMost(Float32Array.of(0, 10, 20, 30), 25), 2);
});
