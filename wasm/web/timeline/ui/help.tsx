import type { JSX } from "preact";
import type { Palette } from "../../base/palette";
import { BINDINGS } from "../input/keymap";
import { Keys } from "./keys";
import { KindLines } from "./legend";

const MOUSE: readonly (readonly [string, string])[] = [
  ["Wheel", "Scroll the tracks (once the timeline has the focus; before that, the page)"],
  ["Ctrl / ⌘ + wheel, pinch", "Zoom at the pointer"],
  ["Wheel on the ruler", "Zoom at the pointer"],
  ["Shift + wheel, sideways", "Move in time"],
  ["Drag", "Move"],
  [
    "Shift + drag, or drag on the ruler",
    "Mark a range and sum it up; its edges stick to those of events, but with Alt",
  ],
  ["Drag a track's name, Alt + ↑ ↓", "Put it elsewhere"],
  ["Click", "Details of the event; where a stream was idle: why; on an iteration: mark it; on a note: open it"],
  ["Double click", "Fill the screen with the event"],
  ["Drag on the strip above", "Choose what is shown"],
];

const TERMS: readonly (readonly [string, string])[] = [
  ["Any text", "Events whose name holds it"],
  ["dur>1ms, dur<=250", "Longer or shorter ones; ns where no unit (us, ms, s) is said"],
  ["kind:kernel, cat:cpu_op", "Those of a kind, or of a category of the file"],
  ['stream=7, "External id"=12', "Those with an argument"],
  ["id:123", "The one with that id"],
  ['"dur>1ms"', "The text itself"],
];

/** What keys, mouse and colours mean. */
export function Help({ palette }: { palette: Palette }): JSX.Element {
  return (
    <div class="ks-help">
      <dl>
        {BINDINGS.filter(({ keys }) => keys.length > 0).map(({ keys, text }) => (
          <div key={text}>
            <dt>
              <Keys keys={keys} />
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
      <h4>Search: all of these that are given</h4>
      <dl>
        {TERMS.map(([what, text]) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <ul class="ks-legend">
        <KindLines palette={palette} />
        <li>Paler bars stand for several events that are too close to be told apart; zoom in to see each.</li>
      </ul>
    </div>
  );
}
