import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Details } from "../../../wasm/web/timeline/details";

beforeEach(() => globalThis.localStorage?.clear());

function detailsOf(width: number): Details {
  const details = new Details();
  details.fitInto(width);
  return details;
}

test("on wide screens the details are beside the picture, and open from the start", () => {
  assert.deepEqual([detailsOf(900).side.value, detailsOf(900).shown], ["bottom", null]);
  assert.deepEqual([detailsOf(1300).side.value, detailsOf(1300).shown], ["right", "trace"]);
});

test("closed details open for a subject, and close with it", () => {
  const details = detailsOf(1300);
  details.close();
  assert.equal(details.shown, null);
  details.open.set("event");
  assert.equal(details.shown, "event");
  details.open.set(null);
  assert.equal(details.shown, null);
  details.toggle("trace");
  assert.equal(details.shown, "trace");
});

test("their size stays in bounds", () => {
  const details = detailsOf(900);
  details.resize(0.01);
  assert.equal(details.share.value, 0.15);
  details.resize(2);
  assert.equal(details.share.value, 0.8);
});

test("a reader can move them where they have room", () => {
  assert.equal(detailsOf(700).canMove, false);
  const details = detailsOf(900);
  assert.equal(details.canMove, true);
  details.move();
  assert.equal(details.side.value, "right");
  details.fitInto(700);
  assert.equal(details.side.value, "bottom", "there is no room any more");
});

test("each side keeps its size when the window changes", () => {
  const details = detailsOf(1300);
  details.resize(0.5);
  details.fitInto(900);
  assert.equal(details.share.value, 0.42);
  details.fitInto(1400);
  assert.equal(details.share.value, 0.5);
});
