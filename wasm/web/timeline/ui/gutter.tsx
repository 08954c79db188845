import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Palette } from "../../base/palette";
import { type Row, rowsBetween } from "../row";
import type { Timeline } from "../timeline";
import { useCell, useDerived } from "./hooks";
import { useRowDrag } from "./row-drag";
import { type Handlers, headerHeight, RowHeader } from "./row-header";
import { focusRow, rowKeys } from "./row-keys";

// In CSS pixels: rows are rendered again only after this much scrolling; in between the column
// moves.
const STEP = 240;

interface Props {
  readonly timeline: Timeline;
  readonly palette: Palette;
  readonly leave: () => void;
}

/**
 * Names of the tracks, to fold, pin and move. One row takes the focus; arrow keys reach the others.
 */
export function Gutter({ timeline, palette, leave }: Props): JSX.Element {
  const layout = useCell(timeline.layout);
  const { height } = useCell(timeline.size);
  const step = useDerived(timeline.viewport.scroll, stepOf);
  const gutter = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState("");
  const drag = useRowDrag(timeline);
  const shown = rowsBetween(layout.scrolled, (step - 1) * STEP, (step + 2) * STEP + height);
  const column = useScrolled(timeline, shown);
  const rows = [...layout.pinned, ...shown];
  const entry = rows.find((row) => row.key === current) ?? rows[0];
  const refocus = (key: string) => focusRow(timeline, gutter.current, key);
  const handlers: Handlers = { timeline, palette, entry: entry?.key ?? "", setCurrent, drag, leave, refocus };
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
        {layout.scrolled.length === 0 && layout.pinned.length === 0 && <NoRows timeline={timeline} />}
      </div>
    </div>
  );
}

/** Says why no track is visible. */
function NoRows({ timeline }: { timeline: Timeline }): JSX.Element {
  const { filter } = useCell(timeline.tracks.arrangement);
  const { frames = true } = useCell(timeline.setup);
  const why = !filter && !frames ? "Python functions are hidden (y)" : `No track matches “${filter}”`;
  return <p class="ks-no-rows">{why}</p>;
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

/** An element that moves with the scroll position without rendering `rows` again. */
function useScrolled({ viewport: { scroll } }: Timeline, rows: readonly Row[]): { current: HTMLDivElement | null } {
  const column = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const shifts: number[] = [];
    const move = () => {
      const box = column.current;
      if (!box) return;
      box.style.transform = `translateY(${-scroll.value}px)`;
      // A style on their parent would make the browser update all descendants at every step.
      for (const [at, row] of rows.entries()) {
        const shift = shiftOf(row, scroll.value);
        if (shift !== shifts[at]) (box.children[at] as HTMLElement).style.setProperty("--ks-shift", `${shift}px`);
        shifts[at] = shift;
      }
    };
    move();
    return scroll.subscribe(move);
  }, [scroll, rows]);
  return column;
}

/** Moves a track's name down, so that it stays visible while any of the track is. */
const shiftOf = (row: Row, scroll: number): number =>
  row.kind === "track" ? Math.max(0, Math.min(scroll - row.top, row.height - headerHeight(row))) : 0;
