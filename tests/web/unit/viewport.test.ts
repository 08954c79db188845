import assert from "node:assert/strict";
import { test } from "node:test";
import { lengthOf, span } from "../../../wasm/web/base/time";
import { Viewport } from "../../../wasm/web/timeline/viewport";

test("the first window is the whole trace with a margin", () => {
  const viewport = new Viewport(1000);
  assert.ok(viewport.window.value.start < 0 && viewport.window.value.end > 1000);
});

test("no command leaves the trace", () => {
  const viewport = new Viewport(1000);
  viewport.zoom(100, 500);
  assert.deepEqual(viewport.window.value, viewport.bounds);
  viewport.show(span(100, 200));
  viewport.pan(1e9);
  assert.equal(viewport.window.value.end, viewport.bounds.end);
  assert.equal(lengthOf(viewport.window.value), 100);
});

test("zooming in ends at a few nanoseconds", () => {
  const viewport = new Viewport(1e9);
  for (let i = 0; i < 200; i++) viewport.zoom(0.5, 5e8);
  assert.ok(lengthOf(viewport.window.value) >= 10);
  assert.ok(lengthOf(viewport.window.value) < 20);
});

test("an animation ends at its target in less than a second", () => {
  const viewport = new Viewport(1000);
  viewport.show(span(100, 200), true);
  assert.notDeepEqual(viewport.window.value, span(100, 200));
  let frames = 0;
  while (viewport.advance(16)) frames++;
  assert.deepEqual(viewport.window.value, span(100, 200));
  assert.ok(frames > 3 && frames < 60, `${frames} frames`);
});

test("readers who prefer reduced motion get no animation", () => {
  const viewport = new Viewport(1000);
  viewport.calm = true;
  viewport.show(span(100, 200), true);
  assert.deepEqual(viewport.window.value, span(100, 200));
});

test("an empty trace has a window", () => {
  assert.ok(lengthOf(new Viewport(0).window.value) > 0);
});

test("scrolling stays within its limit", () => {
  const viewport = new Viewport(1000);
  viewport.limitScroll(100);
  viewport.scrollBy(500);
  assert.equal(viewport.scroll.value, 100);
  viewport.limitScroll(40);
  assert.equal(viewport.scroll.value, 40);
  viewport.scrollBy(-500);
  assert.equal(viewport.scroll.value, 0);
  viewport.scrollTo(30, true);
  while (viewport.advance(16));
  assert.equal(viewport.scroll.value, 30);
});
