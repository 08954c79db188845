import type { JSX } from "preact";
import type { Timeline } from "../timeline";
import { useCell } from "./hooks";

const SMALLEST = 24;

/** Scroll bar of the tracks. Arrow keys scroll too, so it takes no focus. */
export function Scrollbar({ timeline }: { timeline: Timeline }): JSX.Element | null {
  const scroll = useCell(timeline.viewport.scroll);
  const { height: whole } = useCell(timeline.size);
  const { pinnedHeight, scrolledHeight } = useCell(timeline.layout);
  const height = whole - pinnedHeight;
  const hidden = scrolledHeight - height;
  if (hidden <= 0 || height <= 0) return null;
  const thumb = Math.max(SMALLEST, (height * height) / scrolledHeight);
  const perPixel = hidden / (height - thumb);
  const drag = (event: PointerEvent) => {
    const bar = event.currentTarget as HTMLElement;
    if (bar.hasPointerCapture(event.pointerId)) timeline.viewport.scrollBy(event.movementY * perPixel);
  };
  return (
    <div
      class="ks-scrollbar"
      aria-hidden="true"
      style={{ height: `${height}px` }}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
    >
      <div style={{ height: `${thumb}px`, transform: `translateY(${scroll / perPixel}px)` }} />
    </div>
  );
}
