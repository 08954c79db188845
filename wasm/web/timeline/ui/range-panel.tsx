import type { JSX } from "preact";
import { formatDuration, formatPlural } from "../../base/format";
import type { Palette } from "../../base/palette";
import { lengthOf, type Span } from "../../base/time";
import type { Timeline } from "../timeline";
import { useCell } from "./hooks";
import { IconButton } from "./icons";
import { RangeAnswer } from "./range-answer";
import { RangeSummary } from "./range-summary";

// Analyses to list first; the core lists the others.
const FIRST: readonly string[] = ["breakdown", "kernels", "operators", "modules", "annotations"];

interface Props {
  readonly timeline: Timeline;
  readonly palette: Palette;
  readonly span: Span;
}

/** Summary and analyses of the marked range. */
export function RangePanel({ timeline, palette, span }: Props): JSX.Element {
  const summary = useCell(timeline.range.summary);
  const { analysis } = useCell(timeline.range.asking);
  return (
    <div class="ks-range">
      <h3>
        <span>
          {formatDuration(lengthOf(span))} from {formatDuration(span.start)}
          {summary && <small> {formatPlural(summary.num_events, "event")}</small>}
        </span>
        <IconButton icon="focus" label="Zoom to the range" onClick={() => timeline.viewport.show(span, true)} />
        <IconButton icon="save" label="Save a copy of the range" onClick={() => timeline.askToSave()} />
        <IconButton icon="close" label="Clear the range (Escape)" onClick={() => timeline.unmark()} />
        <Tabs timeline={timeline} chosen={analysis} />
      </h3>
      {!summary && <p class="ks-note">Summarizing …</p>}
      {summary && analysis === null && <RangeSummary timeline={timeline} palette={palette} summary={summary} />}
      {summary && analysis !== null && <RangeAnswer key={analysis} timeline={timeline} name={analysis} span={span} />}
    </div>
  );
}

interface TabsProps {
  readonly timeline: Timeline;
  readonly chosen: string | null;
}

function Tabs({ timeline, chosen }: TabsProps): JSX.Element {
  const analyses = useCell(timeline.range.analyses);
  const others = analyses.filter(({ name }) => !FIRST.includes(name));
  const choose = (name: string | null) => timeline.range.askFor(name);
  return (
    <span class="ks-asks">
      {[null, ...FIRST].map((name) => (
        <button key={name} type="button" class="ks-button" aria-pressed={chosen === name} onClick={() => choose(name)}>
          {name ?? "overview"}
        </button>
      ))}
      <select
        aria-label="Other analyses of the range"
        value={others.find(({ name }) => name === chosen)?.name ?? ""}
        onFocus={() => timeline.range.listAnalyses()}
        onPointerEnter={() => timeline.range.listAnalyses()}
        onChange={(event) => event.currentTarget.value && choose(event.currentTarget.value)}
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
