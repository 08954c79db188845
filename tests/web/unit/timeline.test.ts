import assert from "node:assert/strict";
import { test } from "node:test";
import { Cell } from "../../../wasm/web/base/cell";
import { Cleanup } from "../../../wasm/web/base/cleanup";
import type { Theme } from "../../../wasm/web/base/palette";
import { lengthOf, type Span, span } from "../../../wasm/web/base/time";
import { eventAt } from "../../../wasm/web/timeline/hit-test";
import { Pinch } from "../../../wasm/web/timeline/input/pinch";
import { turnWheel } from "../../../wasm/web/timeline/input/wheel";
import { tellHost } from "../../../wasm/web/timeline/mount";
import { snapped } from "../../../wasm/web/timeline/snap";
import { startingArrangement } from "../../../wasm/web/timeline/starting-arrangement";
import { Timeline } from "../../../wasm/web/timeline/timeline";
import { FakeSource } from "./fake-source";
import { open, run, settled } from "./opened";

const selectedId = (timeline: Timeline) => timeline.selection.current.value?.details.id;

test("a selected event has its details and links", () => {
  const timeline = open();
  timeline.select(3);
  assert.equal(timeline.selection.current.value?.links.length, 1);
  assert.equal(timeline.details.open.value, "event");
  assert.equal(timeline.said.value, "operator, operator, 10 ns at 60 ns");
});

test("keys move along the lane and along links", () => {
  const timeline = open();
  timeline.select(3);
  run(timeline, "next");
  assert.equal(selectedId(timeline), 4);
  run(timeline, "previous");
  run(timeline, "followForward");
  assert.equal(selectedId(timeline), 53);
  run(timeline, "followBack");
  assert.equal(selectedId(timeline), 3);
});

test("without a selection, keys select the first event on the screen", () => {
  const timeline = open();
  timeline.viewport.show(span(100, 300));
  run(timeline, "next");
  assert.equal(selectedId(timeline), 5);
});

test("at the end of a lane or without a link nothing happens", () => {
  const timeline = open();
  timeline.select(0);
  run(timeline, "previous");
  run(timeline, "followBack");
  assert.equal(selectedId(timeline), 0);
});

test("going to an event off the screen scrolls to it", () => {
  const timeline = open();
  timeline.viewport.show(span(0, 100));
  timeline.go(40);
  const { start, end } = timeline.viewport.window.value;
  assert.ok(start <= 800 && end >= 810);
  assert.equal(end - start, 100, "the zoom stays");
});

test("both ends of a link are shown where they fit", () => {
  const timeline = open({ lanes: 40 });
  timeline.size.set({ width: 1000, height: 200 });
  timeline.select(53);
  timeline.go(53);
  const alone = timeline.viewport.scroll.value;
  assert.ok(alone > 500, "the stream lies below 40 lanes");
  timeline.size.set({ width: 1000, height: 740 });
  timeline.viewport.scrollTo(1000);
  timeline.go(53);
  assert.ok(timeline.viewport.scroll.value < 28, "the launch is in the first lane");
});

test("going to an event by id zooms in where it is too narrow", () => {
  const timeline = open({ count: 50_000 });
  timeline.go(40);
  assert.ok(lengthOf(timeline.viewport.window.value) < 1000);
});

test("focus goes to the event first, then zooms to it", () => {
  const timeline = open();
  timeline.viewport.show(span(0, 200));
  timeline.select(25);
  run(timeline, "focus");
  assert.equal(lengthOf(timeline.viewport.window.value), 200);
  run(timeline, "focus");
  assert.ok(lengthOf(timeline.viewport.window.value) < 20);
});

test("searching counts hits, and steps in time and wrapping around", () => {
  const timeline = open();
  timeline.find("kernel");
  assert.equal(timeline.search.found.value?.hits.count, 50);
  assert.equal(timeline.said.value, "50 hits for kernel");
  timeline.viewport.show(span(500, 700));
  timeline.step(1);
  assert.equal(selectedId(timeline), 70, "the first one at or after the left edge");
  timeline.step(-1);
  timeline.step(-1);
  assert.equal(selectedId(timeline), 68);
  for (let i = 0; i < 32; i++) timeline.step(1);
  assert.equal(selectedId(timeline), 50, "around the end");
});

test("an empty search has no hits", () => {
  const timeline = open();
  timeline.find("nonsense");
  timeline.step(1);
  assert.equal(selectedId(timeline), undefined);
  timeline.find("");
  assert.equal(timeline.search.found.value, null);
});

test("late hits are counted, and gone to when they arrive", async () => {
  const timeline = open({ isLate: true });
  timeline.find("operator");
  await settled();
  timeline.find("kernel", () => timeline.step(1));
  assert.equal(timeline.said.value, "50 hits for operator");
  await settled();
  assert.equal(selectedId(timeline), 50, "a kernel, and no operator");
  const said: string[] = [];
  timeline.said.subscribe(() => said.push(timeline.said.value));
  timeline.find("operator", () => assert.fail("what came to be looked for instead is gone to"));
  timeline.find("nonsense");
  await settled();
  assert.deepEqual(said, ["0 hits for nonsense"]);
});

test("a range is summarized once the drag ends", () => {
  const timeline = open();
  timeline.mark(span(100, 300), false);
  assert.equal(timeline.range.summary.value, null);
  timeline.mark(span(100, 400), true);
  assert.ok(timeline.range.summary.value);
  assert.equal(timeline.details.open.value, "range");
});

test("the host receives settled and cleared ranges, before their summaries", async () => {
  const timeline = open({ isLate: true });
  const told: (Span | null)[] = [];
  const cleanup = new Cleanup();
  tellHost(timeline, { theme: new Cell<Theme>("light"), onRange: (range) => told.push(range) }, cleanup);
  timeline.mark(span(100, 300), true);
  await settled();
  timeline.mark(span(100, 400), true);
  timeline.unmark();
  await settled();
  assert.deepEqual(told, [span(100, 300), null]);
  cleanup.run();
  timeline.mark(span(100, 300), true);
  await settled();
  assert.equal(told.length, 2);
});

test("Escape clears one thing after the other", () => {
  const timeline = open();
  timeline.find("kernel");
  timeline.mark(span(100, 300), true);
  timeline.select(3);
  run(timeline, "help");
  run(timeline, "clear");
  assert.equal(timeline.popover.value, null);
  run(timeline, "clear");
  assert.equal(selectedId(timeline), undefined);
  assert.equal(timeline.details.open.value, "range");
  run(timeline, "clear");
  assert.equal(timeline.range.span.value, null);
  assert.equal(timeline.details.open.value, null);
  run(timeline, "clear");
  assert.equal(timeline.search.found.value, null);
});

test("errors of the core are shown, not thrown", () => {
  const timeline = open();
  timeline.select(4711);
  assert.equal(timeline.error.value, "expected the id of an event, found 4711");
});

test("late answers do not overtake later requests", async () => {
  const timeline = open({ isLate: true });
  timeline.select(1);
  timeline.select(2);
  await settled();
  assert.equal(selectedId(timeline), 2);
});

test("the hover is the event that was drawn there", () => {
  const timeline = open();
  timeline.viewport.show(span(0, 1000));
  const row = timeline.layout.value.rowOf.get(0);
  assert.ok(row);
  const y = row.top + row.laneTop + 3;
  assert.equal(eventAt(timeline, { x: 65, y })?.id, 3);
  assert.equal(eventAt(timeline, { x: 72, y })?.id, 3, "two pixels beside it still count");
  assert.equal(eventAt(timeline, { x: 75, y })?.id, undefined);
  assert.equal(eventAt(timeline, { x: 65, y: 390 }), null);
});

const turn = { deltaX: 0, deltaY: 0, deltaMode: 0, shiftKey: false, ctrlKey: false, metaKey: false };
const place = { x: 500, onHeader: false, isUsed: true };

test("before a first use, the wheel only zooms", () => {
  const timeline = open();
  const before = timeline.viewport.window.value;
  assert.equal(turnWheel(timeline, { ...turn, deltaY: 100 }, { ...place, isUsed: false }), false);
  assert.equal(timeline.viewport.window.value, before);
  assert.equal(turnWheel(timeline, { ...turn, deltaY: -100, ctrlKey: true }, { ...place, isUsed: false }), true);
  assert.ok(lengthOf(timeline.viewport.window.value) < lengthOf(before));
});

test("in use, the wheel scrolls, moves with Shift, and zooms on the header", () => {
  const timeline = open({ lanes: 40 });
  turnWheel(timeline, { ...turn, deltaY: 100 }, place);
  assert.equal(timeline.viewport.scroll.value, 100);
  timeline.viewport.show(span(200, 400));
  turnWheel(timeline, { ...turn, deltaY: 100, shiftKey: true }, place);
  assert.deepEqual(timeline.viewport.window.value, span(220, 420));
  turnWheel(timeline, { ...turn, deltaX: -100, deltaY: 3 }, place);
  assert.deepEqual(timeline.viewport.window.value, span(200, 400));
  turnWheel(timeline, { ...turn, deltaY: -100 }, { ...place, onHeader: true });
  assert.ok(lengthOf(timeline.viewport.window.value) < 200);
});

test("the times under two fingers stay under them", () => {
  const timeline = open();
  timeline.viewport.show(span(0, 1000));
  const pinch = new Pinch(timeline);
  assert.equal(pinch.down(1, { x: 400, y: 0 }), false);
  assert.equal(pinch.down(2, { x: 600, y: 0 }), true);
  pinch.move(1, { x: 300, y: 0 });
  assert.equal(pinch.move(2, { x: 700, y: 0 }), true);
  const { start, end } = timeline.viewport.window.value;
  assert.ok(Math.abs(start - 250) < 1 && Math.abs(end - 750) < 1, `${start} to ${end}`);
  pinch.up(1);
  assert.equal(pinch.move(2, { x: 100, y: 0 }), false);
});

test("at the end of the tracks the wheel does nothing, and leaves nothing to the page", () => {
  const timeline = open();
  assert.equal(turnWheel(timeline, { ...turn, deltaY: 100 }, place), true);
  assert.equal(timeline.viewport.scroll.value, 0);
});

const arranged = (lanes: number, height: number) => {
  const source = new FakeSource({ lanes });
  const timeline = new Timeline(source, source.overview);
  startingArrangement(timeline);
  timeline.size.set({ width: 1000, height });
  return timeline;
};

test("the first screen shows every track, with the highest lanes with which it can", () => {
  assert.deepEqual([...arranged(1, 400).tracks.arrangement.value.low], []);
  const { layout, tracks } = arranged(40, 400);
  assert.deepEqual([...tracks.arrangement.value.low], [0]);
  assert.equal(tracks.arrangement.value.lowHeight, 7);
  assert.ok(layout.value.scrolledHeight <= 400);
  assert.deepEqual([...tracks.arrangement.value.pinned], []);
});

test("lanes that the reader lowered or raised stay so when Python functions are toggled", () => {
  const timeline = arranged(40, 400);
  const { tracks } = timeline;
  const low = () => [...tracks.arrangement.value.low];
  tracks.toggleHeight(1);
  timeline.setUp({ frames: false });
  assert.deepEqual(low(), [1, 0], "the one that the reader chose, and the one that has no room");
  tracks.toggleHeight(0);
  for (const frames of [true, false]) timeline.setUp({ frames });
  assert.deepEqual(low(), [1]);
});

test("streams are pinned where low lanes are not enough", () => {
  assert.deepEqual([...arranged(80, 400).tracks.arrangement.value.pinned], [1]);
});

test("a filter reports its number of tracks, and is cleared by going to a hidden event", () => {
  const timeline = open();
  timeline.tracks.filter("stream");
  assert.equal(timeline.said.value, "1 track of 2");
  assert.equal(timeline.layout.value.rowOf.get(0), undefined);
  timeline.go(3);
  assert.ok(timeline.layout.value.rowOf.get(0));
});

test("going to an event raises low lanes, a click does not", () => {
  const timeline = arranged(40, 400);
  timeline.select(3);
  assert.equal(timeline.layout.value.rowOf.get(0)?.low, true);
  run(timeline, "focus");
  assert.equal(timeline.layout.value.rowOf.get(0)?.low, false);
});

test("a row moves past its next visible sibling", () => {
  const timeline = open();
  const [group] = timeline.layout.value.scrolled;
  assert.ok(group);
  timeline.tracks.move(group, 1);
  assert.deepEqual(
    timeline.layout.value.scrolled.map((row) => row.key),
    ["group-1", "track-1", "group-0", "track-0"],
  );
  assert.equal(timeline.said.value, "python 1: position 2 of 2");
  timeline.tracks.move(group, 1);
  assert.equal(timeline.layout.value.scrolled[2]?.key, "group-0", "at the end nothing happens");
});

test("a measure disappears with the next one, and with Escape", () => {
  const timeline = open();
  timeline.select(3);
  run(timeline, "measure");
  assert.deepEqual(timeline.notes.passing.value, span(60, 70));
  timeline.select(4);
  run(timeline, "measure");
  assert.deepEqual(timeline.notes.passing.value, span(80, 90));
  run(timeline, "clear");
  run(timeline, "clear");
  assert.equal(timeline.notes.passing.value, null);
  assert.equal(timeline.notes.all.value.length, 0);
});

test("a key hides and shows the details", () => {
  const timeline = open();
  run(timeline, "toggleDetails");
  assert.equal(timeline.details.open.value, "trace");
  timeline.select(3);
  run(timeline, "toggleDetails");
  assert.equal(timeline.details.open.value, null);
  run(timeline, "toggleDetails");
  assert.equal(timeline.details.open.value, "event");
});

test("the edges of a range snap to events nearby", () => {
  const timeline = open();
  timeline.viewport.show(span(0, 200));
  const y = (timeline.layout.value.rowOf.get(0)?.top ?? 0) + 10;
  assert.equal(snapped(timeline, 202, y), 40, "start of the third operator, two pixels away");
  assert.equal(snapped(timeline, 255, y), 50, "its end, five pixels away");
  assert.equal(Math.round(snapped(timeline, 225, y)), 45, "in the middle there is nothing to stick to");
  assert.ok(Math.abs(snapped(timeline, 202, -5) - 40.4) < 0.01, "nor on the ruler");
});

test("every request has the new options, and old tiles are discarded", () => {
  const source = new FakeSource();
  const timeline = new Timeline(source, { ...source.overview, num_frames: 3 }, { align: "start" });
  timeline.tiles.pieces(0, span(0, 1000), 100);
  timeline.tiles.pieces(0, span(0, 1000), 100);
  const before = source.tileAsks.length;
  assert.equal(source.tileAsks[0]?.align, "start");
  timeline.setUp({ frames: false });
  timeline.tiles.pieces(0, span(0, 1000), 100);
  assert.ok(source.tileAsks.length > before);
  assert.deepEqual([source.tileAsks.at(-1)?.align, source.tileAsks.at(-1)?.frames], ["start", false]);
  const asked = source.asked.length;
  timeline.setUp({ frames: false });
  assert.equal(source.asked.length, asked, "what is so already is not asked for");
});

test("a new alignment keeps the selection and clears the range", () => {
  const source = new FakeSource();
  const timeline = new Timeline(source, source.overview);
  timeline.select(3);
  timeline.mark(span(0, 100), true);
  timeline.setUp({ frames: false });
  assert.ok(timeline.range.span.value, "without functions of Python times are the same");
  timeline.setUp({ align: "start" });
  assert.equal(timeline.selection.current.value?.details.id, 3);
  assert.equal(timeline.range.span.value, null);
});

test("one of several links is chosen, wrapping around", () => {
  const source = new FakeSource();
  const timeline = new Timeline(source, source.overview);
  timeline.select(3);
  const selected = timeline.selection.current.value;
  assert.ok(selected);
  const [link] = selected.links;
  assert.ok(link);
  timeline.selection.current.set({ ...selected, links: [link, { ...link, target: source.event(60) }] });
  const partner = () => timeline.selection.partner(true)?.id;
  assert.equal(partner(), link.target.id);
  timeline.chooseLink(true);
  assert.deepEqual([partner(), timeline.said.value], [60, "Arrow 2 of 2, outgoing: kernel"]);
  timeline.chooseLink(true);
  assert.equal(partner(), link.target.id);
  timeline.chooseLink(false);
  assert.equal(timeline.said.value, "No incoming arrow");
});

test("for a trace in the kernel, the export is Python code", async () => {
  const source = new FakeSource();
  const timeline = new Timeline(source, {
    ...source.overview,
    parts: [{ ...source.overview.parts[0], origin_ns: "5000" }],
  } as never);
  timeline.saving.isRedacted.set(true);
  timeline.saving.save("trace", span(10, 20));
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.match(timeline.saving.said.value, /trace\.trim\(5010, 5020\)\.redact\(\)\.to_chrome\(/);
});

test("for several traces in the kernel, the code exports each", async () => {
  const source = new FakeSource();
  const [part] = source.overview.parts;
  const parts = [
    { ...part, origin_ns: "5000" },
    { ...part, origin_ns: "7000" },
  ];
  const timeline = new Timeline(source, { ...source.overview, parts } as never);
  timeline.saving.save("trace", span(10, 20));
  await settled();
  const each = "for at, (trace, zero) in enumerate(zip(traces, [5000, 7000])): trace.trim(zero + 10, zero + 20)";
  assert.ok(timeline.saving.said.value.endsWith(`${each}.to_chrome(f"part_{at}.json.gz")`), timeline.saving.said.value);
});

test("going to a hidden function shows it, and the host is told once", () => {
  const source = new FakeSource();
  source.frame = 3;
  const timeline = new Timeline(source, source.overview, { frames: false });
  const heard: unknown[] = [];
  timeline.selection.current.subscribe(() => heard.push(selectedId(timeline)));
  timeline.select(3);
  assert.deepEqual(heard, [3]);
  assert.equal(timeline.setup.value.frames, true);
  assert.equal(source.asked.filter((type) => type === "event").length, 2, "as it was hidden, and as it is shown");
});
