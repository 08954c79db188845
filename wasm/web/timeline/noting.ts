import { padded, span } from "../base/time";
import type { Note } from "./notes";
import type { Timeline } from "./timeline";

/** Subject for a note: an idle time or event, else the marked range, else a time. */
export function subjectOf(timeline: Timeline): Omit<Note, "text"> {
  const { detailed } = timeline;
  if (detailed) return { start: detailed.start, end: detailed.start + detailed.dur, event: detailed.id };
  const range = timeline.range.span.value;
  if (range) return { start: range.start, end: range.end, event: null };
  const { start, end } = timeline.viewport.target;
  const time = timeline.pointerTime ?? (start + end) / 2;
  return { start: time, end: time, event: null };
}

/** Adds a note about the subject, and opens the list to edit it. */
export function takeNote(timeline: Timeline): void {
  timeline.notes.add({ ...subjectOf(timeline), text: "" });
  timeline.popover.set("notes");
}

/** Goes to the subject of a note. */
export function visitNote(timeline: Timeline, note: Note): void {
  const { viewport } = timeline;
  timeline.notes.current.set(note);
  if (note.event !== null) timeline.go(note.event);
  else if (note.end > note.start) viewport.show(padded(span(note.start, note.end), (note.end - note.start) / 4), true);
  else viewport.pan(note.start - (viewport.target.start + viewport.target.end) / 2, true);
}
