import type { JSX } from "preact";
import { formatDuration, formatShare } from "../../base/format";
import type { Palette } from "../../base/palette";
import { lengthOf, type Span } from "../../base/time";
import { exchangeRanges } from "../comparing";
import type { Timeline } from "../timeline";
import { AlignedRanges } from "./aligned-ranges";
import type { Heads } from "./answer-table";
import { AnswerTables, allRows, useAnswer } from "./answer-tables";
import { useCell } from "./hooks";
import { IconButton } from "./icons";

// Tables to list first, by their place in the answer.
const FIRST: readonly (readonly [string, string])[] = [
  ["diff", "parts"],
  ["diff_kernels", "kernels"],
  ["diff_operators", "operators"],
  ["diff_modules", "modules"],
];

// The columns to show first, and what they are called.
const HEADS: Heads = {
  before_ns: "A",
  after_ns: "B",
  change_ns: "B − A",
  share: "share",
  before: "A",
  after: "B",
};

interface Props {
  readonly timeline: Timeline;
  readonly palette: Palette;
  readonly base: Span;
  readonly span: Span;
}

/** Compares the marked range with another one. */
export function ComparePanel({ timeline, palette, base, span }: Props): JSX.Element {
  const { comparison } = timeline;
  const query = useCell(comparison.asking);
  const part = useCell(timeline.range.part);
  const { order, limit } = query;
  const times = { start: base.start, end: base.end, other_start: span.start, other_end: span.end };
  const asked = { ...times, part, order, limit };
  const answer = useAnswer(timeline, "compare", asked);
  const by = lengthOf(span) - lengthOf(base);
  return (
    <div class="ks-range">
      <h3>
        <span>
          A {nameOf(timeline, base)} → B {nameOf(timeline, span)}{" "}
          <small>
            {by < 0 ? "−" : "+"}
            {formatDuration(Math.abs(by))}, {formatShare(lengthOf(span), lengthOf(base))} of A
          </small>
        </span>
        <IconButton icon="swap" label="Exchange A and B" onClick={() => exchangeRanges(timeline)} />
        <IconButton icon="close" label="End the comparison (Escape)" onClick={() => timeline.endComparison()} />
        {answer && typeof answer !== "string" && (
          <span class="ks-asks">
            {FIRST.map(([name, title]) => {
              const at = answer.tables.findIndex((table) => table.name === name);
              return (
                at >= 0 && (
                  <button
                    key={name}
                    type="button"
                    class="ks-button"
                    aria-pressed={at === query.table}
                    onClick={() => comparison.choose(at)}
                  >
                    {title}
                  </button>
                )
              );
            })}
          </span>
        )}
      </h3>
      <AlignedRanges timeline={timeline} palette={palette} base={base} span={span} />
      {typeof answer === "string" && <p class="ks-note">{answer}</p>}
      {!answer && <p class="ks-note">Comparing …</p>}
      {answer && typeof answer !== "string" && (
        <AnswerTables
          timeline={timeline}
          tables={answer.tables}
          doc="A and B"
          heads={HEADS}
          query={query}
          ask={(change) => comparison.ask(change)}
          choose={(table) => comparison.choose(table)}
          whole={() => allRows(timeline, "compare", asked)}
        />
      )}
    </div>
  );
}

/** The iteration of a range, or its start, with its length. */
function nameOf({ overview }: Timeline, span: Span): string {
  const iteration = overview.iterations.find(({ start, dur }) => start === span.start && start + dur === span.end);
  const length = formatDuration(lengthOf(span));
  return iteration ? `iteration ${iteration.iteration} (${length})` : `${length} from ${formatDuration(span.start)}`;
}
