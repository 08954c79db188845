import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Palette } from "../../base/palette";
import type { Timeline } from "../timeline";
import { Health } from "./health";
import { Help } from "./help";
import { useCell } from "./hooks";
import { IconButton } from "./icons";

interface Props {
  readonly timeline: Timeline;
  readonly palette: Palette;
  readonly leave: () => void;
}

export function Popovers({ timeline, palette, leave }: Props): JSX.Element | null {
  const open = useCell(timeline.popover);
  const close = () => {
    timeline.popover.set(null);
    leave();
  };
  if (open === "help") {
    return (
      <Popup title="Keys, mouse and colours" close={close}>
        <Help palette={palette} />
      </Popup>
    );
  }
  if (open !== "health") return null;
  return (
    <Popup title="Trace health" close={close}>
      <Health overview={timeline.overview} />
    </Popup>
  );
}

interface PopupProps {
  readonly title: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
}

function Popup({ title, close, children }: PopupProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.focus(), []);
  return (
    <div class="ks-popup" role="dialog" aria-label={title} tabIndex={-1} ref={box}>
      <header>
        <strong>{title}</strong>
        <IconButton icon="close" label="Close (Escape)" onClick={close} />
      </header>
      {children}
    </div>
  );
}
