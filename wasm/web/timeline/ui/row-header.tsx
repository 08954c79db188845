import type { JSX } from "preact";
import { formatPlural } from "../../base/format";
import type { Palette } from "../../base/palette";
import { readValue } from "../counters";
import { canFold, type Row } from "../row";
import type { Timeline } from "../timeline";
import { Cut } from "./cut";
import { useCell, useLeaving } from "./hooks";
import { Icon, type IconName } from "./icons";
import type { RowDrag } from "./row-drag";
import { TimeBar } from "./time-bar";

const ONE_LINE = 25;
const TWO_LINES = 50;

/** Whether the buttons have room below the name. */
const isRoomy = ({ height }: Row): boolean => height >= TWO_LINES;

/** CSS pixels of name and buttons. */
export const headerHeight = (row: Row): number => (isRoomy(row) ? TWO_LINES : ONE_LINE);

/** State shared by the rows of a gutter. */
export interface Handlers {
  readonly timeline: Timeline;
  readonly palette: Palette;
  /** Key of the row that Tab enters. */
  readonly entry: string;
  readonly setCurrent: (key: string) => void;
  readonly drag: RowDrag;
  readonly leave: () => void;
  /** Restores the focus of a row that has moved. */
  readonly refocus: (key: string) => void;
}

interface Props {
  readonly row: Row;
  readonly handlers: Handlers;
}

export function RowHeader({ row, handlers }: Props): JSX.Element {
  const { drag, setCurrent, leave } = handlers;
  const box = useLeaving<HTMLDivElement>(leave);
  const place = { "--ks-top": `${row.top}px`, "--ks-height": `${row.height}px`, "--ks-depth": row.depth };
  return (
    <div
      ref={box}
      class={`ks-row ks-${row.kind} ${drag.target === row.key ? "ks-drop" : ""}`}
      style={place}
      data-row={row.key}
      onFocusCapture={() => setCurrent(row.key)}
      onPointerDown={(event) => drag.down(event, row)}
      onPointerMove={drag.move}
      onPointerUp={drag.up}
      onPointerCancel={drag.cancel}
    >
      <Name row={row} handlers={handlers} />
      {row.kind === "track" && <Tools row={row} handlers={handlers} />}
    </div>
  );
}

function Name({ row, handlers: { timeline, entry, drag, palette } }: Props): JSX.Element {
  const folds = canFold(row);
  const shares = useCell(timeline.deviceTime.shares).get(row.group.part);
  const fold = () => folds && !drag.justDropped() && timeline.tracks.toggleFold(row.key);
  return (
    <button
      type="button"
      class="ks-name"
      aria-expanded={folds ? !row.folded : undefined}
      title={aboutOf(row)}
      tabIndex={entry === row.key ? 0 : -1}
      onClick={fold}
    >
      <Icon name="chevron" />
      {row.kind === "group" && <Icon name={row.group.kind} />}
      <Cut text={row.name} />
      {row.kind === "group" && row.group.kind === "trace" && shares && <TimeBar shares={shares} palette={palette} />}
      {row.counter && <small class="ks-most">≤ {readValue(row.counter.greatest, row.counter.unit)}</small>}
    </button>
  );
}

function aboutOf(row: Row): string {
  const { counter } = row;
  if (counter)
    return `${row.name}: ${readValue(counter.least, counter.unit)} to ${readValue(counter.greatest, counter.unit)}`;
  const [track] = row.tracks;
  if (row.kind === "group" || !track) return row.name;
  const size = `${formatPlural(track.num_events, "event")} in ${formatPlural(track.num_lanes, "lane")}`;
  return `${row.name}\n${row.group.name}\n${size}\nDrag or Alt + arrow keys to move`;
}

/** The pin beside the name, and the buttons for lanes below it where the row is high enough. */
function Tools({ row, handlers: { timeline, entry, refocus } }: Props): JSX.Element | null {
  const [track] = row.tracks;
  if (!track) return null;
  const tabIndex = entry === row.key ? 0 : -1;
  const hasRoom = isRoomy(row);
  return (
    <div class={`ks-row-tools ${hasRoom ? "ks-roomy" : ""} ${row.low && hasRoom ? "ks-low" : ""}`}>
      {track.num_lanes > 1 && !row.folded && (
        <Tool
          icon="height"
          label={row.low ? `Show names in ${row.name}` : `Lower the lanes of ${row.name}`}
          text={row.low && hasRoom ? "Show names" : ""}
          on={row.low}
          tabIndex={tabIndex}
          run={() => timeline.tracks.toggleHeight(track.track)}
        />
      )}
      <Tool
        icon="pin"
        label={`Pin ${row.name}`}
        on={row.kept}
        tabIndex={tabIndex}
        run={() => {
          timeline.tracks.togglePin(track.track);
          refocus(row.key);
        }}
      />
    </div>
  );
}

interface ToolProps {
  readonly icon: IconName;
  readonly label: string;
  readonly text?: string;
  readonly on: boolean;
  readonly tabIndex: number;
  readonly run: () => void;
}

function Tool({ icon, label, text, on, tabIndex, run }: ToolProps): JSX.Element {
  return (
    <button
      type="button"
      class={`ks-button ks-row-tool ks-${icon}`}
      aria-pressed={on}
      aria-label={label}
      title={label}
      tabIndex={tabIndex}
      onClick={run}
    >
      <Icon name={icon} />
      {text}
    </button>
  );
}
