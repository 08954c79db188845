import assert from "node:assert/strict";
import { test } from "node:test";
import { ownerCode, paletteOf } from "../../../wasm/web/base/palette";
import { scaleOf } from "../../../wasm/web/base/scale";
import { asTime, span } from "../../../wasm/web/base/time";
import type { Change, Counter, Finding } from "../../../wasm/web/source/protocol";
import type { AnswerTable } from "../../../wasm/web/source/tables";
import { readCell, written } from "../../../wasm/web/timeline/answer";
import { FALLS, isComparison, RISES } from "../../../wasm/web/timeline/changes";
import { alike } from "../../../wasm/web/timeline/findings";
import type { Look } from "../../../wasm/web/timeline/look";
import { nameOf } from "../../../wasm/web/timeline/mount";
import { paintChanges } from "../../../wasm/web/timeline/paint/changes";
import { paintCounter } from "../../../wasm/web/timeline/paint/counters";
import { paintPath } from "../../../wasm/web/timeline/paint/path";
import { type Box, cssHeaderHeight, lanesOf, sceneOf, type Tools } from "../../../wasm/web/timeline/paint/scene";
import { Timeline } from "../../../wasm/web/timeline/timeline";
import { FakeSource } from "./fake-source";
import { run } from "./opened";

function finding(source: FakeSource, name: string, ids: readonly number[], cost: number): Finding {
  const evidence = ids.map((id) => source.event(id));
  return {
    part: 0,
    finding: name,
    subject: "",
    label: "",
    detail: "",
    advice: "",
    cost_ns: cost,
    share: 0.1,
    overlap_ns: null,
    count: ids.length,
    confidence: 1,
    start: evidence[0]?.start ?? null,
    end: asTime(0),
    evidence,
  };
}

function open(): { source: FakeSource; timeline: Timeline } {
  const source = new FakeSource();
  source.findings = [
    finding(source, "item_reads_the_device", [10], 30),
    finding(source, "unfused", [11, 12], 20),
    finding(source, "far", [45], 10),
  ];
  const timeline = new Timeline(source, source.overview);
  timeline.viewport.calm = true;
  timeline.size.set({ width: 1000, height: 400 });
  return { source, timeline };
}

test("findings that several ranks share appear once, sorted by cost", () => {
  const source = new FakeSource();
  const of = (name: string, part: number, cost: number) => ({ ...finding(source, name, [10], cost), part });
  const all = [of("launch_bound", 1, 30), of("copy", 0, 20), of("launch_bound", 0, 10)];
  const groups = alike(all).map((group) => group.map(({ finding, part }) => `${finding} ${part}`));
  assert.deepEqual(groups, [["launch_bound 1", "launch_bound 0"], ["copy 0"]]);
});

/** Records filled rectangles and clips. */
class Drawn {
  readonly fills: { readonly fill: Box; readonly clip: Box }[] = [];
  #rect: Box = { x: 0, y: 0, width: 0, height: 0 };
  #clip = this.#rect;

  get context(): CanvasRenderingContext2D {
    const context = {
      rect: (x: number, y: number, width: number, height: number) => {
        this.#rect = { x, y, width, height };
      },
      clip: () => {
        this.#clip = this.#rect;
      },
      fillRect: (x: number, y: number, width: number, height: number) =>
        this.fills.push({ fill: { x, y, width, height }, clip: this.#clip }),
      save: () => {},
      restore: () => {},
      beginPath: () => {},
      stroke: () => {},
      strokeRect: () => {},
    };
    return context as Partial<CanvasRenderingContext2D> as CanvasRenderingContext2D;
  }
}

test("findings have a line, with one marker for findings close together", () => {
  const { timeline } = open();
  const before = cssHeaderHeight(timeline);
  timeline.askMarks();
  assert.ok(cssHeaderHeight(timeline) > before);
  const groups = timeline.findings.groups(scaleOf(span(0, 2000), 1000));
  assert.deepEqual(
    groups.map((group) => group.findings.map((one) => one.finding)),
    [["item_reads_the_device", "unfused"], ["far"]],
    "the costliest first",
  );
  assert.equal(timeline.findings.groups(scaleOf(span(190, 260), 1000)).length, 3, "apart when zoomed in");
});

test("with many findings, each group has room for its text", () => {
  const source = new FakeSource();
  source.findings = Array.from({ length: 30 }, (_, at) => finding(source, `f${at}`, [at], 30 - at));
  const timeline = new Timeline(source, source.overview);
  timeline.askMarks();
  const groups = timeline.findings.groups(scaleOf(span(0, 1000), 1000));
  assert.equal(
    groups.reduce((sum, group) => sum + group.findings.length, 0),
    30,
  );
  const gaps = groups.slice(1).map((group, at) => group.x - (groups[at]?.x ?? 0));
  assert.ok(
    gaps.every((gap) => gap >= 100),
    gaps.join(" "),
  );
  assert.equal(groups[0]?.findings[0]?.finding, "f0", "the costliest gives a group its name");
});

test("keys go through findings and their evidence, wrapping around", () => {
  const { timeline } = open();
  timeline.askMarks();
  run(timeline, "nextFinding");
  assert.equal(timeline.selection.current.value?.details.id, 10);
  assert.equal(timeline.details.open.value, "finding");
  run(timeline, "previousFinding");
  assert.equal(timeline.selection.current.value?.details.id, 45);
  run(timeline, "nextFinding");
  assert.equal(timeline.findings.current.value?.finding, "item_reads_the_device");
});

test("marks are requested once, and changes only for a comparison", () => {
  const { source, timeline } = open();
  timeline.askMarks();
  timeline.askMarks();
  assert.deepEqual(source.asked.filter((type) => type === "findings").length, 1);
  assert.ok(!source.asked.includes("changes"));
  const [part] = source.overview.parts;
  assert.ok(part);
  assert.ok(isComparison({ ...source.overview, parts: [part, { ...part, part: 1 }] }));
  assert.ok(!isComparison({ ...source.overview, parts: [part, { ...part, part: 1, rank: 1 }] }));
});

test("stripes show whether a tile's time rose or fell", () => {
  const { source, timeline } = open();
  const [piece] = timeline.tiles.pieces(1, timeline.viewport.window.value, 1000);
  assert.ok(piece);
  const marks = () => new Set(timeline.changes.changesIn(piece.trackTiles, timeline.overview.kinds));
  assert.deepEqual(marks(), new Set([0]));
  const change = { kind: "kernel", name: "kernel", status: "both", before_ns: 10, after_ns: 20 };
  source.changes = [change as Change];
  timeline.changes.ask();
  assert.deepEqual(marks(), new Set([RISES]));
});

test("a merged tile has the stripes of its longest event", () => {
  const { source, timeline } = open();
  const [piece] = timeline.tiles.pieces(1, timeline.viewport.window.value, 1000);
  assert.ok(piece);
  piece.trackTiles.tiles.count.fill(7);
  source.changes = [{ kind: "kernel", name: "kernel", status: "both", before_ns: 20, after_ns: 10 } as Change];
  timeline.changes.ask();
  assert.deepEqual(new Set(timeline.changes.changesIn(piece.trackTiles, timeline.overview.kinds)), new Set([FALLS]));
});

test("stripes over narrow tiles are drawn together", () => {
  const { source, timeline } = open();
  source.changes = [{ kind: "kernel", name: "kernel", status: "both", before_ns: 20, after_ns: 10 } as Change];
  timeline.changes.ask();
  const row = timeline.layout.value.rowOf.get(1);
  const track = source.overview.tracks[1];
  assert.ok(row && track);
  const drawnAt = (cssWidth: number) => {
    const size = { cssWidth, cssHeight: 400, dpr: 1 };
    const scene = sceneOf(timeline, { path: "red", text: "red" } as Look, {} as Tools, size);
    const drawn = new Drawn();
    Object.assign(globalThis, { document: { createElement: () => ({ getContext: () => null }) } });
    paintChanges(drawn.context, scene, lanesOf(scene, row, track));
    return drawn.fills.map(({ fill }) => fill.width);
  };
  const each = drawnAt(1000).length;
  assert.ok(each >= 50 && each <= 55, `each by itself, but for what is cut: ${each}`);
  const few = drawnAt(30);
  assert.ok(few.length > 0 && few.length < 10 && few.reduce((sum, width) => sum + width, 0) > 20, few.join(" "));
});

test("a counter ends at the end of its trace", () => {
  const { source, timeline } = open();
  const counter = { counter: 0, part: 0, group: 1, name: "memory", unit: "bytes", least: 0, greatest: 8 } as Counter;
  source.counters = [counter];
  source.steps = { start: [100, 200], least: [4, 8], greatest: [4, 8], last: [4, 8], until: 1000 };
  run(timeline, "toggleCounters");
  timeline.viewport.show(span(0, 2000));
  const row = timeline.layout.value.scrolled.find(({ kind }) => kind === "counter");
  assert.ok(row);
  const look = { palette: paletteOf("light", { r: 255, g: 255, b: 255 }) } as Look;
  const scene = sceneOf(timeline, look, {} as Tools, { cssWidth: 1000, cssHeight: 400, dpr: 1 });
  const drawn = new Drawn();
  paintCounter(drawn.context, scene, row, counter);
  const ends = drawn.fills.map(({ fill }) => fill.x + fill.width);
  assert.equal(Math.max(...ends), Math.round(scene.scale.x(1000)));
});

test("a trace without a name has the host's name", () => {
  const { overview } = new FakeSource();
  const [part] = overview.parts;
  assert.ok(part);
  const bare = { ...overview, title: "", device_names: [""] };
  assert.equal(nameOf(bare), "Trace");
  assert.equal(nameOf(bare, "rank0.json.gz"), "rank0.json.gz");
  assert.equal(nameOf({ ...bare, parts: [{ ...part, name: "before" }] }), "before");
  assert.equal(nameOf({ ...bare, device_names: ["H100"] }, "rank0.json.gz"), "H100");
});

test("the critical path is requested when shown, once per window", () => {
  const { source, timeline } = open();
  const ask = () => timeline.path.stepsIn(timeline.viewport.window.value, 1000);
  assert.ok(!timeline.path.isOn.value);
  run(timeline, "togglePath");
  assert.ok(timeline.path.isOn.value);
  assert.equal(ask()?.end_track[0], 1);
  ask();
  assert.equal(source.asked.filter((type) => type === "path").length, 1);
});

test("the critical path on scrolled tracks stays below pinned ones", () => {
  const { source, timeline } = open();
  const lanes = Uint32Array.of(0, 0);
  const tracks = Uint32Array.of(0, 1);
  source.path = { ...source.path, track: tracks, lane: lanes, end_track: tracks, end_lane: lanes };
  source.path = { ...source.path, start: Float64Array.of(0, 100), end: Float64Array.of(90, 190) };
  source.path = { ...source.path, bound: Uint8Array.of(0, 0) };
  timeline.path.isOn.set(true);
  timeline.tracks.togglePin(1);
  const drawn = new Drawn();
  const size = { cssWidth: 1000, cssHeight: 400, dpr: 1 };
  const scene = sceneOf(timeline, { path: "red" } as Look, {} as Tools, size);
  paintPath(drawn.context, scene);
  const [pinned, scrolled] = [0, 1].map((at) => drawn.fills.find(({ fill }) => fill.y > scene.scrolledTop === at > 0));
  assert.equal(pinned?.clip.y, scene.headerHeight);
  assert.equal((pinned?.clip.y ?? 0) + (pinned?.clip.height ?? 0), scene.scrolledTop);
  assert.equal(scrolled?.clip.y, scene.scrolledTop);
  assert.equal(scrolled?.clip.height, 400 - scene.scrolledTop);
});

test("colour modes cycle, and tiles without an owner are grey", () => {
  const { timeline } = open();
  const seen = [1, 2, 3, 4].map(() => {
    run(timeline, "toggleColors");
    return timeline.colorBy.value;
  });
  assert.deepEqual(seen, ["name", "operator", "module", "kind"]);
  timeline.colorBy.set("operator");
  const [piece] = timeline.tiles.pieces(1, timeline.viewport.window.value, 1000);
  assert.equal(piece?.trackTiles.colored("operator", timeline.overview.kinds)[0], ownerCode("aten::mm"));
  assert.notEqual(ownerCode("aten::mm"), ownerCode(""));
});

const TABLE: AnswerTable = {
  name: "kernels",
  doc: "",
  num_rows: 3,
  columns: [
    { name: "name", unit: null, role: null },
    { name: "total_ns", unit: "ns", role: null },
    { name: "start_ns", unit: "ns", role: "time" },
  ],
  rows: [
    ["b, c", 1500, "1700000000000000100"],
    ["a", null, "1700000000000000200"],
    ['d "x"', 20, null],
  ],
  parts: null,
  labels: {},
};

test("copied values are exact, displayed ones readable", () => {
  const csv = written(TABLE, ",").split("\n");
  assert.deepEqual(csv, [
    "name,total_ns,start_ns",
    '"b, c",1500,1700000000000000100',
    "a,,1700000000000000200",
    '"d ""x""",20,',
    "",
  ]);
  assert.equal(written(TABLE, "\t").split("\n")[2], "a\t\t1700000000000000200");
  const [, total, start] = TABLE.columns;
  const part = { ...new FakeSource().overview.parts[0], origin_ns: "1700000000000000000" } as never;
  assert.ok(total && start);
  assert.equal(readCell(1500, total, { part, longest: 1500 }), "1.5 µs");
  assert.equal(
    readCell("1700000000000000100", start, { part, longest: 0 }),
    "100 ns",
    "from the screen's start, to the nanosecond",
  );
});
