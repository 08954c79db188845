import type { ComponentChildren, JSX } from "preact";
import { useEffect } from "preact/hooks";
import { formatDuration, formatPlural } from "../../base/format";
import type { Palette } from "../../base/palette";
import { lengthOf, type Span, span } from "../../base/time";
import type { Overview } from "../../source/protocol";
import type { Range } from "../range";
import type { Timeline } from "../timeline";
import { useCell } from "./hooks";
import { IconButton } from "./icons";
import { RangeAnswer } from "./range-answer";
import { RangeSummary } from "./range-summary";

// Analyses to list first; the core lists the others.
const FIRST: readonly string[] = ["breakdown", "kernels", "operators", "modules", "annotations"];

/** Summing up more events would stop the page for a noticeable time: the reader asks for it. */
const AT_ONCE = 400_000;

interface Props {
  readonly timeline: Timeline;
  readonly palette: Palette;
}

/** Summary and analyses of the marked range. */
export function RangePanel({ timeline, palette, span }: Props & { readonly span: Span }): JSX.Element {
  const title = `${formatDuration(lengthOf(span))} from ${formatDuration(span.start)}`;
  return (
    <Answers timeline={timeline} palette={palette} range={timeline.range} span={span} title={title}>
      <IconButton icon="focus" label="Zoom to the range" onClick={() => timeline.viewport.show(span, true)} />
      <IconButton icon="save" label="Save a copy of the range" onClick={() => timeline.askToSave()} />
      <IconButton icon="close" label="Clear the range (Escape)" onClick={() => timeline.unmark()} />
    </Answers>
  );
}

/** Summary and analyses of the whole trace. */
export function TracePanel({ timeline, palette }: Props): JSX.Element {
  useCell(timeline.setup);
  const all = wholeOf(timeline.overview);
  const isDrawn = useCell(timeline.isDrawn);
  const marked = useCell(timeline.whole.span);
  const isLarge = timeline.overview.num_events > AT_ONCE;
  useEffect(() => {
    // The picture comes first.
    if (isDrawn && (!isLarge || marked)) timeline.whole.sumUpOnce(all);
  }, [isDrawn, all.start, all.end]);
  const isWhole = lengthOf(all) >= timeline.overview.duration;
  const title = `${isWhole ? "Whole trace" : "Reported part"}: ${formatDuration(lengthOf(all))}`;
  if (isLarge && !marked) {
    return (
      <>
        <h3>{title}</h3>
        <button type="button" class="ks-button" onClick={() => timeline.whole.sumUpOnce(all)}>
          Sum up {formatPlural(timeline.overview.num_events, "event")}
        </button>
      </>
    );
  }
  return <Answers timeline={timeline} palette={palette} range={timeline.whole} span={all} title={title} />;
}

/**
 * The range that reports are about: all of a trace, or the part that a page has, without the
 * observed iteration.
 */
const wholeOf = ({ reported, duration }: Overview): Span => reported ?? span(0, duration);

interface AnswersProps extends Props {
  readonly range: Range;
  readonly span: Span;
  readonly title: string;
  readonly children?: ComponentChildren;
}

function Answers({ timeline, palette, range, span, title, children }: AnswersProps): JSX.Element {
  const summary = useCell(range.summary);
  const { analysis } = useCell(range.asking);
  return (
    <div class="ks-range">
      <h3>
        <span>
          {title}
          {summary && <small> {formatPlural(summary.num_events, "event")}</small>}
        </span>
        {children}
        <Tabs range={range} chosen={analysis} />
      </h3>
      {!summary && <p class="ks-note">Summarizing …</p>}
      {summary && analysis === null && <RangeSummary {...{ timeline, palette, range, summary }} />}
      {summary && analysis !== null && <RangeAnswer key={analysis} {...{ timeline, range, span }} name={analysis} />}
    </div>
  );
}

interface TabsProps {
  readonly range: Range;
  readonly chosen: string | null;
}

function Tabs({ range, chosen }: TabsProps): JSX.Element {
  const analyses = useCell(range.analyses);
  const others = analyses.filter(({ name }) => !FIRST.includes(name));
  const choose = (name: string | null) => range.askFor(name);
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
        onFocus={() => range.listAnalyses()}
        onPointerEnter={() => range.listAnalyses()}
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
