import type { JSX } from "preact";
import type { Span } from "../../base/time";
import type { Range } from "../range";
import type { Timeline } from "../timeline";
import { AnswerTables, allRows, useAnswer } from "./answer-tables";
import { useCell } from "./hooks";
import { PartChoice } from "./part-choice";

interface Props {
  readonly timeline: Timeline;
  readonly range: Range;
  readonly name: string;
  readonly span: Span;
}

/** The result of an analysis for a range, one table at a time. */
export function RangeAnswer({ timeline, range, name, span }: Props): JSX.Element {
  const part = useCell(range.asked);
  const query = useCell(range.asking);
  const { order, limit } = query;
  const asked = { name, start: span.start, end: span.end, part, order, limit };
  const answer = useAnswer(timeline, "analyze", asked);
  if (typeof answer === "string") return <p class="ks-note">{answer}</p>;
  if (!answer) return <p class="ks-note">Computing …</p>;
  return (
    <>
      <PartChoice timeline={timeline} range={range} chosen={part} hasAll={true} />
      {answer.reason && query.table === 0 && <p class="ks-note">No rows: {answer.reason}.</p>}
      <AnswerTables
        timeline={timeline}
        tables={answer.tables}
        doc={answer.doc}
        query={query}
        ask={(change) => range.ask(change)}
        choose={(table) => range.askFor(name, table)}
        whole={() => allRows(timeline, "analyze", asked)}
      />
    </>
  );
}
