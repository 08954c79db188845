import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { formatCount, formatDuration } from "../../base/format";
import { kindColor, type Palette } from "../../base/palette";
import type { Timeline } from "../timeline";
import { useCell } from "./hooks";

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
      <div class="ks-tooltip-name">{hover.name}</div>
      <div>
        <b>{formatDuration(hover.dur)}</b>
        <i style={{ background: kindColor(palette, hover.kind) }} />
        {hover.kind}
        <span> at {formatDuration(hover.start)}</span>
      </div>
      {hover.count > 1 && (
        <div class="ks-note">{formatCount(hover.count)} events here, the longest one is named; zoom in</div>
      )}
    </div>
  );
}

/** Beside the pointer, inside the picture. */
function place(box: HTMLElement, x: number, y: number): void {
  const around = box.offsetParent;
  if (!around) return;
  const { offsetWidth: width, offsetHeight: height } = box;
  const left = x + AWAY + width > around.clientWidth ? x - AWAY - width : x + AWAY;
  const top = y + AWAY + height > around.clientHeight ? y - AWAY - height : y + AWAY;
  box.style.transform = `translate(${Math.max(2, left)}px, ${Math.max(2, top)}px)`;
}
