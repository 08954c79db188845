import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Palette } from "../../base/palette";
import type { Subject } from "../details";
import type { Timeline } from "../timeline";
import { ComparePanel } from "./compare-panel";
import { CounterPanel } from "./counter-panel";
import { EventPanel } from "./event-panel";
import { FindingPanel } from "./finding-panel";
import { GapPanel } from "./gap-panel";
import { HitsPanel } from "./hits-panel";
import { useCell, useLeaving } from "./hooks";
import { IconButton } from "./icons";
import { RangePanel, TracePanel } from "./range-panel";
import { Sash } from "./sash";

interface Props {
  readonly timeline: Timeline;
  readonly palette: Palette;
  readonly leave: () => void;
}

/** Details of the selection, the marked range or the whole trace. */
export function Details(props: Props): JSX.Element | null {
  const { details } = props.timeline;
  for (const cell of [details.open, details.side, details.isClosed]) useCell<unknown>(cell);
  return details.shown ? <OpenDetails {...props} open={details.shown} /> : null;
}

function OpenDetails({ timeline, palette, leave, open }: Props & { open: Subject }): JSX.Element {
  const { details } = timeline;
  const subjects = useSubjects(timeline, palette);
  const side = useCell(details.side);
  const share = useCell(details.share);
  const put = (length: number, whole: number) => details.resize(length / Math.max(1, whole));
  const box = useLeaving<HTMLElement>(leave);
  const isBelow = side === "bottom";
  // A subject may be gone, as the hits of a search that was cleared.
  const shown = subjects.find(({ name }) => name === open) ?? subjects[0];
  return (
    <section
      class="ks-details"
      ref={box}
      style={{ [isBelow ? "height" : "width"]: `${share * 100}%` }}
      aria-label="Details"
    >
      <Sash label="Size of the details" edge={side} value={share * 100} put={put} />
      <header>
        <div role="tablist">
          {subjects.map(({ name, label }) => (
            <button
              key={name}
              type="button"
              role="tab"
              class="ks-tab"
              aria-selected={name === shown?.name}
              onClick={() => details.open.set(name)}
            >
              {label}
            </button>
          ))}
        </div>
        <span>
          {details.canMove && (
            <IconButton
              icon={isBelow ? "beside" : "below"}
              label={isBelow ? "Put the details beside the picture" : "Put the details below the picture"}
              onClick={() => details.move()}
            />
          )}
          <IconButton icon="close" label="Close the details (Q)" onClick={() => details.close()} />
        </span>
      </header>
      <Panel of={`${shown?.name} ${shown?.of ?? ""}`} leave={leave}>
        {shown?.panel}
      </Panel>
    </section>
  );
}

/** A tab, and what it shows. */
interface ShownSubject {
  readonly name: Subject;
  readonly label: string;
  /** Tells one event or idle time from another. */
  readonly of?: number;
  readonly panel: JSX.Element;
}

function useSubjects(timeline: Timeline, palette: Palette): readonly ShownSubject[] {
  const selected = useCell(timeline.selection.current);
  const gap = useCell(timeline.gaps.current);
  const span = useCell(timeline.range.span);
  const base = useCell(timeline.comparison.base);
  const found = useCell(timeline.search.found);
  const point = useCell(timeline.counters.clicked);
  const finding = useCell(timeline.findings.current);
  const on = { timeline, palette };
  const subjects: readonly (ShownSubject | false | null)[] = [
    { name: "trace", label: "Trace", panel: <TracePanel {...on} /> },
    selected && {
      name: "event",
      label: "Event",
      of: selected.details.id,
      panel: <EventPanel {...on} selected={selected} />,
    },
    gap && { name: "gap", label: "Idle", of: gap.start, panel: <GapPanel {...on} gap={gap} /> },
    span && { name: "range", label: "Range", panel: <RangePanel {...on} span={span} /> },
    base && span && { name: "compare", label: "A | B", panel: <ComparePanel {...on} base={base} span={span} /> },
    found && {
      name: "hits",
      label: "Hits",
      panel: <HitsPanel key={found.text} timeline={timeline} text={found.text} />,
    },
    point && {
      name: "counter",
      label: "Counter",
      of: point.time,
      panel: <CounterPanel timeline={timeline} point={point} />,
    },
    finding && { name: "finding", label: "Finding", panel: <FindingPanel {...on} finding={finding} /> },
  ];
  return subjects.filter((subject) => subject !== null && subject !== false);
}

interface PanelProps {
  readonly of: string;
  readonly leave: () => void;
  readonly children: ComponentChildren;
}

/**
 * Scrolls to its top for each new subject. The link that was followed may be gone with the focus.
 */
function Panel({ of, leave, children }: PanelProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const hadFocus = box.current?.matches(":focus-within");
  useLayoutEffect(() => {
    const { current } = box;
    if (!current) return;
    current.scrollTop = 0;
    if (hadFocus && !current.matches(":focus-within")) leave();
  }, [of]);
  return (
    <div class="ks-panel" role="tabpanel" ref={box}>
      {children}
    </div>
  );
}
