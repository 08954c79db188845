import assert from "node:assert/strict";
import { test } from "node:test";
import type { Group, Overview } from "../../../wasm/web/source/protocol";
import {
  type Arrangement,
  AS_IT_COMES,
  inOrder,
  LANE_HEIGHT,
  rearranged,
  siblingsOf,
} from "../../../wasm/web/timeline/arrangement";
import { layOut } from "../../../wasm/web/timeline/layout";
import { firstLane, laneAt, rowsBetween } from "../../../wasm/web/timeline/row";
import { FakeSource } from "./fake-source";

const { overview } = new FakeSource({ lanes: 5 });
const plain = AS_IT_COMES;

const keys = (arrangement: Arrangement) => layOut(overview, arrangement).scrolled.map((row) => row.key);

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

test("a folded group is squeezed, not hidden", () => {
  const arrangement = { ...plain, folded: new Set(["group-0", "track-1"]) };
  assert.deepEqual(keys(arrangement), ["group-0", "group-1", "track-1"]);
  const row = layOut(overview, arrangement).rowOf.get(0);
  assert.equal(row?.key, "group-0");
  assert.ok(row && row.laneHeight > 0 && row.laneTop + 5 * row.laneHeight <= row.height);
});

test("a pinned track names its group where another track has the same name", () => {
  const [track] = overview.tracks;
  const [group] = overview.groups;
  assert.ok(track && group);
  const group_of = (number: number, part: number, parent: number | null, name: string): Group => ({
    ...group,
    group: number,
    part,
    parent,
    name,
  });
  const stream = (number: number, of: number) => ({ ...track, track: number, group: of, name: "stream 7" });
  const names = (groups: readonly Group[], tracks: Overview["tracks"]) =>
    layOut({ ...overview, groups, tracks }, { ...plain, pinned: new Set([0, 1]) }).pinned.map(({ name }) => name);
  const devices = [group_of(0, 0, null, "Device 0 · NVIDIA H100"), group_of(1, 0, null, "Device 1 · NVIDIA H100")];
  assert.deepEqual(names(devices, [stream(0, 0), stream(1, 1)]), ["Device 0 · stream 7", "Device 1 · stream 7"]);
  assert.deepEqual(names(devices, [stream(0, 0), { ...stream(1, 1), name: "stream 8" }]), ["stream 7", "stream 8"]);
  const ranks = [0, 1].flatMap((rank) => [
    group_of(2 * rank, rank, null, `rank ${rank}`),
    group_of(2 * rank + 1, rank, 2 * rank, "Device 0"),
  ]);
  assert.deepEqual(names(ranks, [stream(0, 1), stream(1, 3)]), ["rank 0 · stream 7", "rank 1 · stream 7"]);
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

test("pinned tracks leave room for others: the rest of them scrolls, at the top", () => {
  const layout = layOut(overview, { ...plain, pinned: new Set([0, 1]) }, [], 2 * LANE_HEIGHT);
  assert.deepEqual(
    layout.pinned.map((row) => row.key),
    ["track-1"],
  );
  assert.deepEqual(
    layout.scrolled.map((row) => [row.key, row.kept]),
    [["track-0", true]],
  );
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

test("low lanes lie closer, and are hit where they are drawn", () => {
  const row = layOut(overview, { ...plain, low: new Set([0]), lowHeight: 6 }).rowOf.get(0);
  assert.ok(row && row.laneHeight === 6 && row.height < 6 * LANE_HEIGHT);
  assert.deepEqual(laneAt(row, row.laneTop + 4.5 * 6), { track: 0, lane: 4 });
});

test("a filter keeps tracks with a matching name or group", () => {
  const filtered = (filter: string) => keys({ ...plain, filter });
  assert.deepEqual(filtered("STREAM"), ["group-1", "track-1"]);
  assert.deepEqual(filtered("python"), ["group-0", "track-0"]);
  assert.deepEqual(filtered("nonsense"), []);
  assert.equal(layOut(overview, { ...plain, filter: "stream", pinned: new Set([0]) }).pinned.length, 1, "pins stay");
});

const four = {
  ...overview,
  tracks: [0, 1, 2, 3].map((track) => ({ ...overview.tracks[0], track, group: track < 3 ? 0 : 1, name: `t${track}` })),
} as typeof overview;
const orderOf = (arrangement: Arrangement) => layOut(four, arrangement).scrolled.map((row) => row.key);

test("tracks move within their group, groups among groups", () => {
  const down = rearranged(four, plain, "track-0", "track-2");
  assert.deepEqual(orderOf(down), ["group-0", "track-1", "track-2", "track-0", "group-1", "track-3"]);
  const up = rearranged(four, down, "track-0", "track-1");
  assert.deepEqual(orderOf(up), ["group-0", "track-0", "track-1", "track-2", "group-1", "track-3"]);
  const groups = rearranged(four, down, "group-1", "group-0");
  assert.deepEqual(orderOf(groups), ["group-1", "track-3", "group-0", "track-1", "track-2", "track-0"]);
  assert.deepEqual(rearranged(four, plain, "track-0", "track-3").order, siblingsOf(four, plain, "track-0"));
});

test("pinned tracks move among each other", () => {
  const pinned = { ...plain, pinned: new Set([0, 1, 2]) };
  assert.deepEqual([...rearranged(four, pinned, "track-2", "track-0").pinned], [2, 0, 1]);
});

test("groups that were never moved keep their place", () => {
  assert.deepEqual(
    inOrder(["a", "b", "c"], (key) => key, ["c", "b"]),
    ["a", "c", "b"],
  );
});

const ranks = (): Overview => {
  const [host, device] = overview.groups;
  const [thread, stream] = overview.tracks;
  assert.ok(host && device && thread && stream);
  const around = (group: number, part: number): Group => ({
    ...host,
    group,
    part,
    kind: "trace",
    name: `rank ${part}`,
  });
  return {
    ...overview,
    groups: [
      around(0, 0),
      { ...host, group: 1, parent: 0 },
      { ...device, group: 2, parent: 0 },
      around(3, 1),
      { ...device, group: 4, parent: 3, part: 1 },
    ],
    tracks: [
      { ...thread, group: 1 },
      { ...stream, group: 2 },
      { ...stream, track: 2, group: 4 },
    ],
  };
};

test("each of several traces has a group around its own groups", () => {
  const rows = (folded: readonly string[]) => layOut(ranks(), { ...plain, folded: new Set(folded) }).scrolled;
  assert.deepEqual(
    rows([]).map(({ key, depth }) => [key, depth]),
    [
      ["group-0", 0],
      ["group-1", 1],
      ["track-0", 1],
      ["group-2", 1],
      ["track-1", 1],
      ["group-3", 0],
      ["group-4", 1],
      ["track-2", 1],
    ],
  );
  const [first] = rows(["group-0"]);
  assert.deepEqual(
    first?.tracks.map(({ track }) => track),
    [1],
    "a folded trace shows its streams",
  );
});

test("a filter for a trace's name keeps all its tracks", () => {
  const { scrolled } = layOut(ranks(), { ...plain, filter: "rank 1" });
  assert.deepEqual(
    scrolled.map(({ key }) => key),
    ["group-3", "group-4", "track-2"],
  );
});

test("a group moves among those of its trace", () => {
  assert.deepEqual(siblingsOf(ranks(), plain, "group-2"), ["group-1", "group-2"]);
  assert.deepEqual(siblingsOf(ranks(), plain, "group-3"), ["group-0", "group-3"]);
});
