import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { formatDuration, formatPlural } from "../../base/format";
import type { Palette } from "../../base/palette";
import { lengthOf, type Span } from "../../base/time";
import type { Timeline } from "../timeline";
import { useCell } from "./hooks";
import { IconButton } from "./icons";
import { RangeAnswer } from "./range-answer";
import { RangeSummary } from "./range-summary";

// What most readers ask for first; the list of all others is the core's.
const TABS = ["breakdown", "kernels", "operators", "modules", "annotations"] as const;

const SUMMARY = "overview";

interface Props {
  readonly timeline: Timeline;
  readonly palette: Palette;
  readonly span: Span;
}

/** What happened in the marked range. */
export function RangePanel({ timeline, palette, span }: Props): JSX.Element {
  const summary = useCell(timeline.range.summary);
  const [tab, setTab] = useState<string>(SUMMARY);
  return (
    <div class="ks-range">
      <h3>
        <span>
          {formatDuration(lengthOf(span))} from {formatDuration(span.start)}
          {summary && <small> {formatPlural(summary.num_events, "event")}</small>}
        </span>
        <IconButton icon="focus" label="Fill the screen with it" onClick={() => timeline.viewport.show(span, true)} />
        <IconButton icon="save" label="Save a copy of it" onClick={() => timeline.askToSave()} />
        <IconButton icon="close" label="Unmark the range (Escape)" onClick={() => timeline.unmark()} />
        <Tabs timeline={timeline} tab={tab} setTab={setTab} />
      </h3>
      {!summary && <p class="ks-note">Summing up …</p>}
      {summary && tab === SUMMARY && <RangeSummary timeline={timeline} palette={palette} summary={summary} />}
      {summary && tab !== SUMMARY && <RangeAnswer key={tab} timeline={timeline} name={tab} span={span} />}
    </div>
  );
}

interface TabsProps {
  readonly timeline: Timeline;
  readonly tab: string;
  readonly setTab: (tab: string) => void;
}

function Tabs({ timeline, tab, setTab }: TabsProps): JSX.Element {
  const analyses = useCell(timeline.range.analyses);
  const first: readonly string[] = [SUMMARY, ...TABS];
  const others = analyses.filter(({ name }) => !first.includes(name));
  return (
    <span class="ks-asks">
      {first.map((name) => (
        <button key={name} type="button" class="ks-button" aria-pressed={tab === name} onClick={() => setTab(name)}>
          {name}
        </button>
      ))}
      <select
        aria-label="Other analyses of the range"
        value={others.some(({ name }) => name === tab) ? tab : ""}
        onFocus={() => timeline.range.listAnalyses()}
        onPointerEnter={() => timeline.range.listAnalyses()}
        onChange={(event) => event.currentTarget.value && setTab(event.currentTarget.value)}
      >
        <option value="">more …</option>
        {others.map(({ name, doc }) => (
          <option key={name} value={name} title={doc}>
            {name.replaceAll("_", " ")}
          </option>
        ))}
      </select>
    </span>
  );
}
