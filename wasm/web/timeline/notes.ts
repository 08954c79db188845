import { Cell } from "../base/cell";
import type { Span } from "../base/time";
import type { EventId } from "../source/protocol";

/** What the reader wrote down about a time, a stretch of time or an event. Plain, so that hosts can keep it. */
export interface Note {
  /** Nanoseconds since the trace's start; `end` is `start` for a note at a time. */
  readonly start: number;
  readonly end: number;
  /** The event that it is about. */
  readonly event: EventId | null;
  readonly text: string;
}

/** The reader's notes, in the order of time, and the mark that is gone with the next one. */
export class Notes {
  readonly all = new Cell<readonly Note[]>([]);
  /** The one that is being written or was clicked at. */
  readonly current = new Cell<Note | null>(null);
  /** A stretch of time that is measured for the moment. */
  readonly passing = new Cell<Span | null>(null);

  add(note: Note): void {
    this.all.update((notes) => inTime([...notes, note]));
    this.current.set(note);
  }

  write(note: Note, text: string): void {
    const written = { ...note, text };
    this.all.update((notes) => notes.map((other) => (other === note ? written : other)));
    if (this.current.value === note) this.current.set(written);
  }

  /** The events that notes are about. */
  get events(): ReadonlySet<EventId> {
    return new Set(this.all.value.flatMap(({ event }) => (event === null ? [] : [event])));
  }

  /** Says where the event lies that notes are about. */
  move(event: EventId, start: number, end: number): void {
    for (const note of this.all.value) {
      if (note.event !== event || (note.start === start && note.end === end)) continue;
      const moved = { ...note, start, end };
      this.all.update((notes) => inTime(notes.map((other) => (other === note ? moved : other))));
      if (this.current.value === note) this.current.set(moved);
    }
  }

  remove(note: Note): void {
    if (this.current.value === note) this.current.set(null);
    this.all.update((notes) => notes.filter((other) => other !== note));
  }

  /** Takes those that a host kept. */
  restore(notes: readonly Note[]): void {
    this.current.set(null);
    this.all.set(inTime(notes));
  }
}

/**
 * The notes of `range` in a copy of it that begins `later`. Events have other ids there, so what is about an event is about its
 * stretch of time.
 */
export function notesWithin(notes: readonly Note[], range: Span, later: number): readonly Note[] {
  const inside = notes.filter(({ start, end }) => start <= range.end && end >= range.start);
  return inside.map((note) => ({ ...note, start: note.start - later, end: note.end - later, event: null }));
}

const inTime = (notes: readonly Note[]): readonly Note[] => [...notes].sort((a, b) => a.start - b.start);
