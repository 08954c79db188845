import type { ComponentChildren, JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { Palette } from "../../base/palette";
import type { Timeline } from "../timeline";
import { Colors } from "./colors";
import { FindingsList } from "./findings-list";
import { Health } from "./health";
import { Help } from "./help";
import { useCell, useLeaving } from "./hooks";
import { IconButton } from "./icons";
import { NotesList } from "./notes-list";

interface Props {
  readonly timeline: Timeline;
  readonly palette: Palette;
  readonly leave: () => void;
}

export function Popovers({ timeline, palette, leave }: Props): JSX.Element | null {
  const open = useCell(timeline.popover);
  const close = () => timeline.popover.set(null);
  if (open === "help") {
    return (
      <Popup title="Keys, mouse and colours" close={close} leave={leave}>
        <Help palette={palette} />
      </Popup>
    );
  }
  if (open === "notes") {
    return (
      <Popup title="Notes" close={close} leave={leave}>
        <NotesList timeline={timeline} close={close} />
      </Popup>
    );
  }
  if (open === "findings") {
    return (
      <Popup title="What slows it down" close={close} leave={leave}>
        <FindingsList timeline={timeline} close={close} />
      </Popup>
    );
  }
  if (open === "colors") {
    return (
      <Popup title="Colours" close={close} leave={leave}>
        <Colors timeline={timeline} palette={palette} />
      </Popup>
    );
  }
  if (open !== "health") return null;
  return (
    <Popup title="Trace health" close={close} leave={leave}>
      <Health overview={timeline.overview} />
    </Popup>
  );
}

interface PopupProps {
  readonly title: string;
  readonly close: () => void;
  readonly leave: () => void;
  readonly children: ComponentChildren;
}

function Popup({ title, close, leave, children }: PopupProps): JSX.Element {
  const box = useLeaving<HTMLDivElement>(leave);
  useEffect(() => {
    // A field in it may have taken the focus already.
    if (!box.current?.matches(":focus-within")) box.current?.focus();
  }, []);
  // A field in it keeps its keys from the timeline, and shuts it no less.
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
