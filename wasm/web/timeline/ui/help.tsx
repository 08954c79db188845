import type { JSX } from "preact";
import { PACKAGES } from "../../base/packages";
import type { Palette } from "../../base/palette";
import { BINDINGS } from "../input/keymap";
import { Keys } from "./keys";
import { KindLines } from "./legend";

const MOUSE: readonly (readonly [string, string])[] = [
  ["Wheel", "Scroll the tracks. Click the timeline first; otherwise the page scrolls"],
  ["Ctrl / ⌘ + wheel, pinch", "Zoom at the pointer"],
  ["Wheel on the ruler", "Zoom at the pointer"],
  ["Shift + wheel, horizontal wheel", "Move in time"],
  ["Drag", "Move"],
  ["Shift + drag, drag on the ruler", "Mark a range and summarize it. Its edges snap to events, except with Ctrl / ⌘"],
  ["Alt + drag, click on a second iteration", "Compare with the marked range"],
  ["Drag a track's name, Alt + ↑ ↓", "Move the track"],
  ["Click", "Event: show details. Idle time: explain it. Iteration: mark it. Counter: show its value. Note: open it"],
  ["Double-click", "Fill the screen with the event"],
  ["Drag on the minimap", "Choose the visible range"],
];

const TERMS: readonly (readonly [string, string])[] = [
  ["Any text", "Events whose name contains it"],
  ["dur>1ms, dur<=250", "Events by duration, in ns unless a unit (us, ms, s) follows"],
  ["kind:kernel, cat:cpu_op", "Events by kind, or by category in the file"],
  ['stream=7, "External id"=12', "Events by the value of an argument"],
  ["id:123", "The event with this id"],
  ['"dur>1ms"', "Events whose name contains the quoted text"],
];

/** Keys, mouse, colours and licences. */
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
      <h4>Search terms (all must match)</h4>
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
        <li>Paler bars are several events that lie close together. Zoom in to separate them.</li>
      </ul>
      <About />
    </div>
  );
}

/** Licences of the program and of the packages in it. */
function About(): JSX.Element {
  return (
    <details>
      <summary>About Kinetoscope</summary>
      <p>
        Kinetoscope is licensed under Apache-2.0. This page contains the packages below. Their notices are in{" "}
        <code>THIRD_PARTY_NOTICES.txt</code> of the Python package.
      </p>
      <dl>
        {Object.entries(PACKAGES).map(([licence, names]) => (
          <div key={licence}>
            <dt>{licence}</dt>
            <dd>{names}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
