import type { JSX, RefObject } from "preact";
import type { Timeline } from "../timeline";
import { useCell } from "./hooks";
import { IconButton } from "./icons";

interface Props {
  readonly timeline: Timeline;
  readonly input: RefObject<HTMLInputElement | null>;
  /** Returns the focus to the picture. */
  readonly leave: () => void;
}

/** Hides tracks whose names do not match. */
export function TrackFilter({ timeline, input, leave }: Props): JSX.Element {
  const { filter } = useCell(timeline.tracks.arrangement);
  const empty = () => {
    timeline.tracks.filter("");
    leave();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") empty();
    else if (event.key === "Enter") leave();
    else return;
    event.preventDefault();
  };
  return (
    <div class="ks-field ks-filter">
      <input
        ref={input}
        type="text"
        value={filter}
        placeholder="Filter tracks"
        aria-label="Filter tracks by name"
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => timeline.tracks.filter(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {filter && <IconButton icon="close" label="Show all tracks (Escape)" onClick={empty} />}
    </div>
  );
}
