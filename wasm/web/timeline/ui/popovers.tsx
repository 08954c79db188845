import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { formatCount } from "../../base/format";
import { KINDS, kindColor, type Palette } from "../../base/palette";
import type { Defect } from "../../source/protocol";
import { BINDINGS } from "../input/keymap";
import type { Timeline } from "../timeline";
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
      <Health defects={timeline.overview.health} />
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

const MOUSE: readonly (readonly [string, string])[] = [
  ["Wheel", "Scroll the tracks (once the timeline has the focus; before that, the page)"],
  ["Ctrl / ⌘ + wheel, pinch", "Zoom at the pointer"],
  ["Wheel on the ruler", "Zoom at the pointer"],
  ["Shift + wheel, sideways", "Move in time"],
  ["Drag", "Move"],
  ["Shift + drag, or drag on the ruler", "Mark a range and sum it up"],
  ["Click", "Details of the event; on an iteration: mark it"],
  ["Double click", "Fill the screen with the event"],
  ["Drag on the strip above", "Choose what is shown"],
];

function Help({ palette }: { palette: Palette }): JSX.Element {
  return (
    <div class="ks-help">
      <dl>
        {BINDINGS.map(({ keys, text }) => (
          <div key={text}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key.length === 1 ? key.toUpperCase() : key.replace("Arrow", "")}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <dl>
        {MOUSE.map(([what, text]) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <ul class="ks-legend">
        {KINDS.map((kind) => (
          <li key={kind}>
            <i style={{ background: kindColor(palette, kind) }} />
            {kind}
          </li>
        ))}
        <li>Paler bars stand for several events that are too close to be told apart; zoom in to see each.</li>
      </ul>
    </div>
  );
}

function Health({ defects }: { defects: readonly Defect[] }): JSX.Element {
  return (
    <table class="ks-table">
      <thead>
        <tr>
          <th class="ks-number">count</th>
          <th>what the recording holds</th>
        </tr>
      </thead>
      <tbody>
        {defects.map((defect) => (
          <tr key={`${defect.kind} ${defect.message}`}>
            <td class="ks-number">{formatCount(defect.count)}</td>
            <td>
              {defect.message}
              <small>{defect.kind}</small>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
