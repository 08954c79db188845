import assert from "node:assert/strict";
import { test } from "node:test";
import { span } from "../../../wasm/web/base/time";
import { type Note, notesWithin } from "../../../wasm/web/timeline/notes";
import { visitNote } from "../../../wasm/web/timeline/noting";
import { Timeline } from "../../../wasm/web/timeline/timeline";
import { FakeSource } from "./fake-source";
import { open, run, settled } from "./opened";

test("notes are about an event, a range or a time, in the order of time", () => {
  const timeline = open();
  const told: (readonly Note[])[] = [];
  timeline.notes.all.subscribe(() => told.push(timeline.notes.all.value));
  timeline.pointer.set(500);
  run(timeline, "takeNote");
  assert.equal(timeline.popover.value, "notes");
  timeline.mark(span(100, 300), true);
  run(timeline, "keepMark");
  timeline.select(3);
  run(timeline, "keepMark");
  const [event, range, time] = timeline.notes.all.value;
  assert.deepEqual(event, { start: 60, end: 70, event: 3, text: "" });
  assert.deepEqual(range, { start: 100, end: 300, event: null, text: "" });
  assert.ok(time && time.start === time.end && time.event === null);
  assert.ok(range && event);
  timeline.notes.write(range, "slow");
  assert.equal(told.at(-1)?.[1]?.text, "slow");
  timeline.notes.current.set(event);
  run(timeline, "removeNote");
  assert.equal(timeline.notes.all.value.length, 2);
  run(timeline, "removeNote");
  assert.equal(timeline.notes.all.value.length, 2, "one at a time");
});

test("a note written during a request still moves to its event", async () => {
  const source = new FakeSource({ isLate: true });
  const timeline = new Timeline(source, source.overview);
  timeline.notes.restore([{ start: 9000, end: 9001, event: 3, text: "" }]);
  timeline.placeNotes();
  const [note] = timeline.notes.all.value;
  if (note) timeline.notes.write(note, "slow");
  await settled();
  assert.deepEqual(timeline.notes.all.value, [{ start: 60, end: 70, event: 3, text: "slow" }]);
});

test("the notes of a range have the right times in a copy", () => {
  const note = (start: number, end: number, event: number | null) => ({ start, end, event, text: "" });
  const notes = [note(0, 5, null), note(90, 110, 3), note(150, 150, null), note(300, 300, null)];
  assert.deepEqual(notesWithin(notes, span(100, 200), 80), [note(10, 30, null), note(70, 70, null)]);
});

test("notes saved by a host are restored, and can be visited", () => {
  const timeline = open();
  timeline.notes.restore([
    { start: 500, end: 600, event: null, text: "later" },
    { start: 200, end: 200, event: null, text: "earlier" },
  ]);
  const [earlier, later] = timeline.notes.all.value;
  assert.ok(earlier?.text === "earlier" && later);
  visitNote(timeline, later);
  assert.deepEqual(timeline.viewport.window.value, span(475, 625));
  visitNote(timeline, earlier);
  assert.deepEqual(timeline.viewport.window.value, span(125, 275));
});
