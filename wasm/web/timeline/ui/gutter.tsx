import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { formatPlural } from "../../base/format";
import { type Row, rowsBetween } from "../layout";
import type { Timeline } from "../timeline";
import { useCell, useDerived } from "./hooks";
import { Icon } from "./icons";

// Rows are made anew only when the scroll leaves its step; in between the whole column moves.
const STEP = 240;

export function Gutter({ timeline }: { timeline: Timeline }): JSX.Element {
  const layout = useCell(timeline.layout);
  const { height } = useCell(timeline.size);
  const step = useDerived(timeline.viewport.scroll, stepOf);
  const column = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { scroll } = timeline.viewport;
    const move = () => {
      column.current?.style.setProperty("--ks-scroll", `${scroll.value}px`);
    };
    move();
    return scroll.subscribe(move);
  }, [timeline]);
  const shown = rowsBetween(layout.scrolled, (step - 1) * STEP, (step + 2) * STEP + height);
  return (
    <div class="ks-gutter">
      <div class="ks-pinned" style={{ height: `${layout.pinnedHeight}px` }}>
        {layout.pinned.map((row) => (
          <RowHeader key={row.key} timeline={timeline} row={row} />
        ))}
      </div>
      <div class="ks-scrolled">
        <div class="ks-scroller" ref={column}>
          {shown.map((row) => (
            <RowHeader key={row.key} timeline={timeline} row={row} />
          ))}
        </div>
      </div>
    </div>
  );
}

const stepOf = (scroll: number): number => Math.floor(scroll / STEP);

interface RowProps {
  readonly timeline: Timeline;
  readonly row: Row;
}

function RowHeader({ timeline, row }: RowProps): JSX.Element {
  const place = { "--ks-top": `${row.top}px`, "--ks-height": `${row.height}px` };
  return (
    <div class={`ks-row ks-${row.kind} ${row.folded ? "ks-folded" : ""}`} style={place}>
      {row.kind === "group" ? <GroupName timeline={timeline} row={row} /> : <TrackName timeline={timeline} row={row} />}
    </div>
  );
}

function GroupName({ timeline, row }: RowProps): JSX.Element {
  return (
    <button
      type="button"
      class="ks-name"
      aria-expanded={!row.folded}
      title={row.name}
      onClick={() => timeline.toggleFold(row.key)}
    >
      <Icon name="chevron" />
      <Icon name={row.group.kind} />
      <span>{row.name}</span>
    </button>
  );
}

function TrackName({ timeline, row }: RowProps): JSX.Element {
  const track = row.tracks[0];
  if (!track) return <span />;
  const about = `${row.name}\n${row.group.name}\n${formatPlural(track.num_events, "event")} in ${formatPlural(track.num_lanes, "lane")}`;
  return (
    <>
      <button
        type="button"
        class="ks-name"
        aria-expanded={!row.folded}
        disabled={track.num_lanes <= 1}
        title={about}
        onClick={() => timeline.toggleFold(row.key)}
      >
        <Icon name="chevron" />
        <span>{row.name}</span>
      </button>
      <button
        type="button"
        class="ks-button ks-icon-button ks-pin"
        aria-pressed={row.pinned}
        aria-label={`Keep ${row.name} at the top`}
        title={row.pinned ? "Put back" : "Keep at the top"}
        onClick={() => timeline.togglePin(track.track)}
      >
        <Icon name="pin" />
      </button>
    </>
  );
}
