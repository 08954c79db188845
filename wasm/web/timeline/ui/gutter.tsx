import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Row, rowsBetween } from "../row";
import type { Timeline } from "../timeline";
import { useCell, useDerived } from "./hooks";
import { useRowDrag } from "./row-drag";
import { type Handlers, RowHeader } from "./row-header";
import { focusRow, rowKeys } from "./row-keys";

// Rows are made anew only when the scroll leaves its step; in between the whole column moves.
const STEP = 240;

/** The names of the tracks: to fold, pin and move them. One of them takes the focus, the arrow keys go to the others. */
export function Gutter({ timeline, leave }: { timeline: Timeline; leave: () => void }): JSX.Element {
  const layout = useCell(timeline.layout);
  const { height } = useCell(timeline.size);
  const step = useDerived(timeline.viewport.scroll, stepOf);
  const gutter = useRef<HTMLDivElement>(null);
  const column = useScrolled(timeline);
  const [current, setCurrent] = useState("");
  const drag = useRowDrag(timeline);
  const shown = rowsBetween(layout.scrolled, (step - 1) * STEP, (step + 2) * STEP + height);
  const rows = [...layout.pinned, ...shown];
  const entry = rows.find((row) => row.key === current) ?? rows[0];
  const refocus = (key: string) => focusRow(timeline, gutter.current, key);
  const handlers: Handlers = { timeline, entry: entry?.key ?? "", setCurrent, drag, leave, refocus };
  const onKeyDown = (event: KeyboardEvent) => rowKeys(event, timeline, gutter.current);
  return (
    <div
      class="ks-gutter"
      ref={gutter}
      role="toolbar"
      aria-orientation="vertical"
      aria-label="Tracks"
      onKeyDown={onKeyDown}
    >
      <div class="ks-pinned" style={{ height: `${layout.pinnedHeight}px` }}>
        <Rows rows={layout.pinned} handlers={handlers} />
      </div>
      <div class="ks-scrolled">
        <div class="ks-scroller" ref={column}>
          <Rows rows={shown} handlers={handlers} />
        </div>
        {layout.scrolled.length === 0 && layout.pinned.length === 0 && <p class="ks-no-rows">No such track</p>}
      </div>
    </div>
  );
}

const stepOf = (scroll: number): number => Math.floor(scroll / STEP);

function Rows({ rows, handlers }: { rows: readonly Row[]; handlers: Handlers }): JSX.Element {
  return (
    <>
      {rows.map((row) => (
        <RowHeader key={row.key} row={row} handlers={handlers} />
      ))}
    </>
  );
}

/** An element that moves with the scroll without being drawn anew. */
function useScrolled({ viewport: { scroll } }: Timeline): { current: HTMLDivElement | null } {
  const column = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const move = () => column.current?.style.setProperty("--ks-scroll", `${scroll.value}px`);
    move();
    return scroll.subscribe(move);
  }, [scroll]);
  return column;
}
