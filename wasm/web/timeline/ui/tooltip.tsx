import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { formatCount, formatDuration } from "../../base/format";
import { kindColor, type Palette } from "../../base/palette";
import type { Change } from "../../source/protocol";
import type { Hover, Timeline } from "../timeline";
import { Changed } from "./changed";
import { useCell } from "./hooks";
import { Name } from "./name";

const AWAY = 14;

interface Props {
  readonly timeline: Timeline;
  readonly palette: Palette;
}

export function Tooltip({ timeline, palette }: Props): JSX.Element | null {
  const hover = useCell(timeline.hover);
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (hover && box.current) place(box.current, hover.x, hover.y);
  }, [hover]);
  if (!hover) return null;
  return (
    <div class="ks-tooltip" role="tooltip" ref={box}>
      {hover.count > 1 ? (
        <Several hover={hover} />
      ) : (
        <One hover={hover} palette={palette} change={timeline.changes.of(hover)} />
      )}
    </div>
  );
}

interface OneProps {
  readonly hover: Hover;
  readonly palette: Palette;
  readonly change: Change | null;
}

function One({ hover, palette, change }: OneProps): JSX.Element {
  return (
    <>
      <div class="ks-tooltip-name">
        <Name event={hover} />
      </div>
      <div>
        <b>{formatDuration(hover.dur)}</b>
        <i style={{ background: kindColor(palette, hover.kind) }} />
        {hover.kind}
        <span> at {formatDuration(hover.start)}</span>
      </div>
      {change && <Changed change={change} />}
    </>
  );
}

/** The time is the sum of several events, so it does not stand beside one name. */
function Several({ hover }: { hover: Hover }): JSX.Element {
  return (
    <>
      <div>
        <b>{formatCount(hover.count)} events</b> in {formatDuration(hover.dur)}
        <span> at {formatDuration(hover.start)}; zoom in to separate them</span>
      </div>
      <div class="ks-tooltip-name">
        <span>longest: </span>
        {hover.label}
      </div>
    </>
  );
}

/** Places it beside the pointer, inside the picture. */
export function place(box: HTMLElement, x: number, y: number): void {
  const around = box.offsetParent;
  if (!around) return;
  const { offsetWidth: width, offsetHeight: height } = box;
  const left = x + AWAY + width > around.clientWidth ? x - AWAY - width : x + AWAY;
  const top = y + AWAY + height > around.clientHeight ? y - AWAY - height : y + AWAY;
  box.style.transform = `translate(${Math.max(2, left)}px, ${Math.max(2, top)}px)`;
}
