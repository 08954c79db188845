import type { JSX, RefObject } from "preact";
import { useRef, useState } from "preact/hooks";
import { formatCount } from "../../base/format";
import type { FoundHits } from "../search";
import type { Timeline } from "../timeline";
import { useCell } from "./hooks";
import { Icon, IconButton } from "./icons";

// Searches when typing pauses, in milliseconds.
const REST_MS = 120;

const TERMS =
  'Part of a name, or terms that must all match: dur>1ms  kind:kernel  cat:cpu_op  id:123  stream=7  "literal"';

interface Props {
  readonly timeline: Timeline;
  readonly input: RefObject<HTMLInputElement | null>;
  /** Returns the focus to the picture. */
  readonly leave: () => void;
}

export function SearchBox({ timeline, input, leave }: Props): JSX.Element {
  const found = useCell(timeline.search.found);
  const [text, setText] = useState("");
  const timer = useRef(0);
  const find = (wanted: string, then?: () => void) => {
    clearTimeout(timer.current);
    timeline.find(wanted, then);
  };
  const type = (wanted: string) => {
    setText(wanted);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => timeline.find(wanted), REST_MS);
  };
  const empty = () => {
    setText("");
    find("");
    leave();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") empty();
    else if (event.key === "Enter") {
      const step = () => timeline.step(event.shiftKey ? -1 : 1);
      if (found?.text === text) step();
      else find(text, step);
    } else return;
    event.preventDefault();
  };
  return (
    <search class="ks-field ks-search">
      <Icon name="search" />
      <input
        ref={input}
        type="text"
        value={text}
        placeholder="Search names, dur>1ms  /"
        aria-label="Search event names"
        title={TERMS}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => type(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {found && (
        <>
          <span class={found.hits.count === 0 ? "ks-hits ks-none" : "ks-hits"}>{hitText(found)}</span>
          <IconButton icon="up" label="Previous hit (Shift+Enter)" onClick={() => timeline.step(-1)} />
          <IconButton icon="down" label="Next hit (Enter)" onClick={() => timeline.step(1)} />
          <IconButton icon="table" label="List the hits in a table (l)" onClick={() => timeline.listHits()} />
          <IconButton icon="close" label="Clear the search (Escape)" onClick={empty} />
        </>
      )}
    </search>
  );
}

function hitText({ hits, at }: FoundHits): string {
  const hidden = hits.num_hidden > 0 ? `, ${formatCount(hits.num_hidden)} hidden (Python)` : "";
  if (hits.count === 0) return `no hits${hidden}`;
  const place = at < 0 ? "" : `${formatCount(at + 1)} of `;
  const noun = at < 0 ? ` hit${hits.count === 1 ? "" : "s"}` : "";
  return `${place}${formatCount(hits.count)}${noun}${hidden}`;
}
