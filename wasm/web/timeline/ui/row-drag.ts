import { useRef, useState } from "preact/hooks";
import { rowAt } from "../hit-test";
import type { Row } from "../row";
import type { Timeline } from "../timeline";

// In CSS pixels: a click may move this far.
const CLICK_PIXELS = 5;

/** A row being dragged to another position among its siblings. */
export interface RowDrag {
  /** Key of the row to drop it on. */
  readonly target: string | null;
  down(event: PointerEvent, row: Row): void;
  move(event: PointerEvent): void;
  up(event: PointerEvent): void;
  cancel(): void;
  /** Whether the next click ends a drag. */
  justDropped(): boolean;
}

interface Held {
  readonly row: Row;
  readonly y: number;
  moved: boolean;
}

export function useRowDrag(timeline: Timeline): RowDrag {
  const held = useRef<Held | null>(null);
  const dropped = useRef(false);
  const [target, setTarget] = useState<string | null>(null);
  const end = () => {
    held.current = null;
    setTarget(null);
  };
  return {
    target,
    down: (event, row) => {
      dropped.current = false;
      if (event.button === 0) held.current = { row, y: event.clientY, moved: false };
    },
    move: (event) => {
      const { current } = held;
      if (!current || (!current.moved && Math.abs(event.clientY - current.y) < CLICK_PIXELS)) return;
      if (!current.moved) (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
      current.moved = true;
      setTarget(targetOf(timeline, event, current.row));
    },
    up: () => {
      const { current } = held;
      dropped.current = current?.moved ?? false;
      if (current && target) timeline.tracks.place(current.row, target);
      end();
    },
    cancel: end,
    justDropped: () => dropped.current,
  };
}

function targetOf(timeline: Timeline, event: PointerEvent, row: Row): string | null {
  const gutter = (event.currentTarget as HTMLElement).closest(".ks-gutter");
  const under = gutter && rowAt(timeline, event.clientY - gutter.getBoundingClientRect().top);
  if (!under || under.key === row.key) return null;
  return timeline.tracks.canPlace(row, under) ? under.key : null;
}
