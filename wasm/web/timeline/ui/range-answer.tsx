import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Span } from "../../base/time";
import type { AnalysisAnswer, Ask } from "../../source/protocol";
import { ALL_ROWS } from "../../source/rows";
import { messageOf, settle } from "../../source/source";
import type { Timeline } from "../timeline";
import { AnswerTable } from "./answer-table";
import { useCell } from "./hooks";
import { PartChoice } from "./part-choice";

const MORE = 10;

interface Props {
  readonly timeline: Timeline;
  readonly name: string;
  readonly span: Span;
}

/** The result of an analysis for a range, one table at a time. */
export function RangeAnswer({ timeline, name, span }: Props): JSX.Element {
  const { range } = timeline;
  const part = useCell(range.asked);
  const { table, order, limit } = useCell(range.asking);
  const asked = { name, start: span.start, end: span.end, part, order, limit };
  const answer = useAnswer(timeline, asked);
  if (typeof answer === "string") return <p class="ks-note">{answer}</p>;
  if (!answer) return <p class="ks-note">Computing …</p>;
  const shown = answer.tables[table] ?? answer.tables[0];
  const whole = async () => {
    const { tables } = await timeline.source.query("analyze", { ...asked, limit: ALL_ROWS });
    return tables.find((one) => one.name === shown?.name);
  };
  return (
    <>
      <PartChoice timeline={timeline} chosen={part} hasAll={true} />
      {answer.tables.length > 1 && (
        <label class="ks-which">
          {answer.doc}:{" "}
          <select value={table} onChange={(event) => range.askFor(name, Number(event.currentTarget.value))}>
            {answer.tables.map((one, at) => (
              <option key={one.name} value={at}>
                {one.name.replaceAll("_", " ")} ({one.num_rows})
              </option>
            ))}
          </select>
        </label>
      )}
      {answer.reason && table === 0 && <p class="ks-note">No rows: {answer.reason}.</p>}
      {shown && shown.num_rows > 0 && (
        <AnswerTable
          key={shown.name}
          timeline={timeline}
          table={shown}
          order={order}
          sort={(column, descends) => range.ask({ order: { table: shown.name, column, descends } })}
          whole={whole}
          more={() => range.ask({ limit: limit * MORE })}
        />
      )}
    </>
  );
}

/** The answer; null while it is pending, a text where it failed. */
function useAnswer({ source }: Timeline, asked: Ask<"analyze">): AnalysisAnswer | string | null {
  const [answer, setAnswer] = useState<AnalysisAnswer | string | null>(null);
  useEffect(() => {
    let wanted = true;
    const use = (found: AnalysisAnswer | string) => wanted && setAnswer(found);
    const ask = () =>
      settle(
        () => source.query("analyze", asked),
        use,
        (error) => use(messageOf(error)),
      );
    // The panel is drawn first: an answer may take a moment.
    const later = setTimeout(ask, 0);
    return () => {
      wanted = false;
      clearTimeout(later);
    };
  }, [source, ...Object.values(asked)]);
  return answer;
}
