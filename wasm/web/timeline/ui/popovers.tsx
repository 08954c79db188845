import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect } from "preact/hooks";
import type { Palette } from "../../base/palette";
import type { Surroundings } from "../input/commands";
import type { Popover, Timeline } from "../timeline";
import { Colors } from "./colors";
import { CommandsList } from "./commands-list";
import { FindingsList } from "./findings-list";
import { Health } from "./health";
import { Help } from "./help";
import { useCell, useLeaving } from "./hooks";
import { IconButton } from "./icons";
import { NotesList } from "./notes-list";
import { Save } from "./save";

interface Props {
  readonly timeline: Timeline;
  readonly palette: Palette;
  readonly around: Surroundings;
  readonly leave: () => void;
}

const TITLES: Readonly<Record<Popover, string>> = {
  help: "Keys, mouse and colours",
  health: "Trace health",
  notes: "Notes",
  findings: "Findings",
  colors: "Colours",
  save: "Save a copy",
  commands: "Commands",
};

export function Popovers({ timeline, palette, around, leave }: Props): JSX.Element | null {
  const open = useCell(timeline.popover);
  if (!open) return null;
  const close = () => timeline.popover.set(null);
  return (
    <Popup key={open} title={TITLES[open]} close={close} leave={leave}>
      {content(open)}
    </Popup>
  );

  function content(shown: Popover): JSX.Element {
    switch (shown) {
      case "help":
        return <Help palette={palette} />;
      case "health":
        return <Health timeline={timeline} close={close} />;
      case "notes":
        return <NotesList timeline={timeline} close={close} />;
      case "findings":
        return <FindingsList timeline={timeline} close={close} />;
      case "colors":
        return <Colors timeline={timeline} palette={palette} />;
      case "commands":
        return <CommandsList timeline={timeline} around={around} close={close} leave={leave} />;
      case "save":
        return <Save timeline={timeline} />;
    }
  }
}

interface PopupProps {
  readonly title: string;
  readonly close: () => void;
  readonly leave: () => void;
  readonly children: ComponentChildren;
}

function Popup({ title, close, leave, children }: PopupProps): JSX.Element {
  const box = useLeaving<HTMLDivElement>(leave);
  useLayoutEffect(() => {
    // A field in it may have the focus already.
    if (!box.current?.matches(":focus-within")) box.current?.focus();
  }, []);
  // A field hides its keys from the timeline, but Escape closes the list.
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    event.preventDefault();
    close();
  };
  return (
    <div class="ks-popup" role="dialog" aria-label={title} tabIndex={-1} ref={box} onKeyDown={onKeyDown}>
      <header>
        <strong>{title}</strong>
        <IconButton icon="close" label="Close (Escape)" onClick={close} />
      </header>
      {children}
    </div>
  );
}
