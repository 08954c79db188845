import assert from "node:assert/strict";
import { test } from "node:test";
import { type Folding, firstLane, LANE_HEIGHT, laneAt, layOut, rowsBetween } from "../../../wasm/web/timeline/layout";
import { FakeSource } from "./fake-source";

const { overview } = new FakeSource({ lanes: 5 });
const plain: Folding = { folded: new Set(), pinned: new Set() };

const keys = (folding: Folding) => layOut(overview, folding).scrolled.map((row) => row.key);

test("groups come with their tracks, one below the other", () => {
  const { scrolled, scrolledHeight } = layOut(overview, plain);
  assert.deepEqual(keys(plain), ["group-0", "track-0", "group-1", "track-1"]);
  let top = 0;
  for (const row of scrolled) {
    assert.equal(row.top, top);
    top += row.height;
  }
  assert.equal(scrolledHeight, top);
});

test("a track is as high as its lanes", () => {
  const row = layOut(overview, plain).rowOf.get(0);
  assert.ok(row && row.height >= 5 * LANE_HEIGHT);
  assert.deepEqual(laneAt(row, row.laneTop + 4.5 * LANE_HEIGHT), { track: 0, lane: 4 });
  assert.equal(laneAt(row, row.laneTop + 5.5 * LANE_HEIGHT), null);
  assert.equal(laneAt(row, 0), null);
});

test("what is folded is squeezed, not hidden", () => {
  const folding = { ...plain, folded: new Set(["group-0", "track-1"]) };
  assert.deepEqual(keys(folding), ["group-0", "group-1", "track-1"]);
  const row = layOut(overview, folding).rowOf.get(0);
  assert.equal(row?.key, "group-0");
  assert.ok(row && row.laneHeight > 0 && row.laneTop + 5 * row.laneHeight <= row.height);
});

test("a pinned track leaves its group", () => {
  const layout = layOut(overview, { ...plain, pinned: new Set([1]) });
  assert.deepEqual(
    layout.pinned.map((row) => row.key),
    ["track-1"],
  );
  assert.deepEqual(
    layout.scrolled.map((row) => row.key),
    ["group-0", "track-0"],
  );
  assert.equal(layout.rowOf.get(1)?.pinned, true);
});

test("the lanes of a folded group's tracks do not overlap", () => {
  const both = { ...overview, tracks: overview.tracks.map((track) => ({ ...track, group: 0 })) };
  const row = layOut(both, { ...plain, folded: new Set(["group-0"]) }).rowOf.get(1);
  assert.ok(row);
  assert.equal(firstLane(row, 0), 0);
  assert.equal(firstLane(row, 1), 5);
  assert.deepEqual(laneAt(row, row.laneTop + 5.5 * row.laneHeight), { track: 1, lane: 0 });
});

test("only rows on the screen are drawn", () => {
  const { scrolled } = layOut(overview, plain);
  assert.deepEqual(
    rowsBetween(scrolled, 0, 10).map((row) => row.key),
    ["group-0"],
  );
  assert.equal(rowsBetween(scrolled, 0, 1e6).length, 4);
});
