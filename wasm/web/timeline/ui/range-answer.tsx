import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Span } from "../../base/time";
import type { AnalysisAnswer } from "../../source/protocol";
import { messageOf, settle } from "../../source/source";
import type { Timeline } from "../timeline";
import { AnswerTable } from "./answer-table";

const FIRST_ROWS = 50;
const MORE = 10;

interface Props {
  readonly timeline: Timeline;
  readonly name: string;
  readonly span: Span;
}

/** What an analysis says about a range: one of its tables at a time. */
export function RangeAnswer({ timeline, name, span }: Props): JSX.Element {
  const [limit, setLimit] = useState(FIRST_ROWS);
  const [table, setTable] = useState(0);
  const answer = useAnswer(timeline, { name, span, limit });
  if (typeof answer === "string") return <p class="ks-note">{answer}</p>;
  if (!answer) return <p class="ks-note">Looking …</p>;
  const shown = answer.tables[table] ?? answer.tables[0];
  return (
    <>
      {answer.tables.length > 1 && (
        <label class="ks-which">
          {answer.doc}:{" "}
          <select value={table} onChange={(event) => setTable(Number(event.currentTarget.value))}>
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
        <AnswerTable key={shown.name} timeline={timeline} table={shown} more={() => setLimit(limit * MORE)} />
      )}
    </>
  );
}

interface Asked {
  readonly name: string;
  readonly span: Span;
  readonly limit: number;
}

/** The answer, once it is there; null before that, or why there is none. */
function useAnswer({ source }: Timeline, { name, span, limit }: Asked): AnalysisAnswer | string | null {
  const [answer, setAnswer] = useState<AnalysisAnswer | string | null>(null);
  useEffect(() => {
    let wanted = true;
    const use = (found: AnalysisAnswer | string) => wanted && setAnswer(found);
    const ask = () =>
      settle(
        () => source.query("analyze", { name, start: span.start, end: span.end, limit }),
        use,
        (error) => use(messageOf(error)),
      );
    // The panel is drawn first: an answer may take a moment.
    const later = setTimeout(ask, 0);
    return () => {
      wanted = false;
      clearTimeout(later);
    };
  }, [source, name, span, limit]);
  return answer;
}
