import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { formatDuration } from "../../base/format";
import type { Note } from "../notes";
import { takeNote, visitNote } from "../noting";
import type { Timeline } from "../timeline";
import { useCell } from "./hooks";
import { Icon, IconButton } from "./icons";

interface Props {
  readonly timeline: Timeline;
  readonly close: () => void;
}

/** All notes, to edit, go to and remove. */
export function NotesList({ timeline, close }: Props): JSX.Element {
  const notes = useCell(timeline.notes.all);
  const current = useCell(timeline.notes.current);
  return (
    <div class="ks-notes">
      {notes.length === 0 && (
        <p class="ks-note">
          No notes yet. Press <kbd>N</kbd> to add one to the selected event, the marked range or a time. Press{" "}
          <kbd>Shift</kbd> <kbd>M</kbd> to add one without text.
        </p>
      )}
      <ul>
        {notes.map((note, index) => (
          <Line key={index} timeline={timeline} note={note} isCurrent={note === current} close={close} />
        ))}
      </ul>
      <button type="button" class="ks-button ks-add" onClick={() => takeNote(timeline)}>
        <Icon name="plus" />
        Add a note
      </button>
    </div>
  );
}

interface NoteProps extends Props {
  readonly note: Note;
  readonly isCurrent: boolean;
}

function Line({ timeline, note, isCurrent, close }: NoteProps): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const remove = (event: MouseEvent) => {
    const list = (event.currentTarget as HTMLElement).closest<HTMLElement>(".ks-popup");
    timeline.notes.remove(note);
    list?.focus();
  };
  // Focus at once: the next key belongs to the note.
  useLayoutEffect(() => {
    if (isCurrent) input.current?.focus();
  }, [isCurrent]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    close();
  };
  const when = whenOf(note);
  return (
    <li class={isCurrent ? "ks-current" : ""}>
      <button type="button" class="ks-button ks-when" title="Go to the note" onClick={() => visitNote(timeline, note)}>
        <Icon name="flag" />
        {when}
      </button>
      <input
        ref={input}
        type="text"
        value={note.text}
        placeholder="Note text"
        aria-label={`Note at ${when}`}
        onInput={(event) => timeline.notes.write(note, event.currentTarget.value)}
        onFocus={() => timeline.notes.current.set(note)}
        onKeyDown={onKeyDown}
      />
      <IconButton icon="close" label={`Remove the note at ${when}`} onClick={remove} />
    </li>
  );
}

function whenOf({ start, end }: Note): string {
  const at = formatDuration(start);
  return end > start ? `${at}, for ${formatDuration(end - start)}` : at;
}
