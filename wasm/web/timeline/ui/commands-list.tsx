import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { COMMANDS, type Surroundings } from "../input/commands";
import { BINDINGS, type Binding } from "../input/keymap";
import type { Timeline } from "../timeline";
import { Keys } from "./keys";

interface Props {
  readonly timeline: Timeline;
  readonly around: Surroundings;
  readonly close: () => void;
  readonly leave: () => void;
}

/** A searchable list of all commands. */
export function CommandsList({ timeline, around, close, leave }: Props): JSX.Element {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const current = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => input.current?.focus(), []);
  useEffect(() => current.current?.scrollIntoView({ block: "nearest" }), [at, text]);
  const found = BINDINGS.filter((binding) => binding.command !== "commands" && has(binding, text));
  const chosen = Math.min(at, found.length - 1);
  const run = (binding: Binding | undefined) => {
    if (!binding) return;
    close();
    leave();
    COMMANDS[binding.command](timeline, around);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : -1;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      setAt((chosen + step + found.length) % Math.max(1, found.length));
    } else if (event.key === "Enter") run(found[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <div class="ks-commands">
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="ks-commands"
        aria-activedescendant={found[chosen] && `ks-command-${found[chosen].command}`}
        aria-label="Search commands"
        placeholder="Search commands"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id="ks-commands" role="listbox" aria-label="Commands" class="ks-command-list">
        {found.map((binding, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above handles the keys
          <div
            key={binding.command}
            id={`ks-command-${binding.command}`}
            ref={index === chosen ? current : null}
            class="ks-command"
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => run(binding)}
          >
            <span class="ks-command-text">{binding.text}</span>
            <Keys keys={binding.keys} />
          </div>
        ))}
      </div>
      {found.length === 0 && <p class="ks-note">No matching command.</p>}
    </div>
  );
}

/** Whether a command's text contains all words. */
const has = ({ text }: Binding, words: string): boolean =>
  words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.toLowerCase().includes(word));
