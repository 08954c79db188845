import { Cell } from "../base/cell";
import type { Span } from "../base/time";
import type { EventId } from "../source/protocol";

/** A note about a time, a range or an event. Plain data, so that hosts can save it. */
export interface Note {
  /** Nanoseconds since the trace's start. A note at a time has `end` equal to `start`. */
  readonly start: number;
  readonly end: number;
  /** The event that the note is about. */
  readonly event: EventId | null;
  readonly text: string;
}

/** The reader's notes in the order of time, and a temporary mark. */
export class Notes {
  readonly all = new Cell<readonly Note[]>([]);
  /** The note that is being edited or was clicked. */
  readonly current = new Cell<Note | null>(null);
  /** A temporary measured range. */
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

  /** Events that have notes. */
  get events(): ReadonlySet<EventId> {
    return new Set(this.all.value.flatMap(({ event }) => (event === null ? [] : [event])));
  }

  /** Moves the notes of an event to its current position. */
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

  /** Replaces all notes with saved ones. */
  restore(notes: readonly Note[]): void {
    this.current.set(null);
    this.all.set(inTime(notes));
  }
}

/**
 * The notes of `range` for a copy that begins `later` nanoseconds later. The copy has other event
 * ids, so notes about events become notes about their ranges.
 */
export function notesWithin(notes: readonly Note[], range: Span, later: number): readonly Note[] {
  const inside = notes.filter(({ start, end }) => start <= range.end && end >= range.start);
  return inside.map((note) => ({ ...note, start: note.start - later, end: note.end - later, event: null }));
}

const inTime = (notes: readonly Note[]): readonly Note[] => [...notes].sort((a, b) => a.start - b.start);
