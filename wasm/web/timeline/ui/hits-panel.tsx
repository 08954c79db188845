import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { formatDuration, formatPlural } from "../../base/format";
import { FIRST_TABLE } from "../range";
import type { Timeline } from "../timeline";
import { AnswerTables, allRows, useAnswer } from "./answer-tables";

/** The hits of the search: their number, total, mean and longest, and tables of them. */
export function HitsPanel({ timeline, text }: { timeline: Timeline; text: string }): JSX.Element {
  const [query, setQuery] = useState(FIRST_TABLE);
  const { order, limit } = query;
  const asked = { text, order, limit };
  const answer = useAnswer(timeline, "hits", asked);
  if (typeof answer === "string") return <p class="ks-note">{answer}</p>;
  if (!answer) return <p class="ks-note">Listing …</p>;
  const { count, total_ns: total, mean_ns: mean, max_ns: max } = answer;
  const sum = mean !== null && max !== null && [total, mean, max].map(formatDuration);
  return (
    <div class="ks-range">
      <h3>
        <span>
          {formatPlural(count, "hit")} for {text}
          {sum && (
            <small>
              {" "}
              total {sum[0]} · mean {sum[1]} · longest {sum[2]}
            </small>
          )}
        </span>
      </h3>
      <AnswerTables
        timeline={timeline}
        tables={answer.tables}
        doc="hits"
        query={query}
        ask={(change) => setQuery({ ...query, ...change })}
        choose={(table) => setQuery({ ...FIRST_TABLE, table })}
        whole={() => allRows(timeline, "hits", asked)}
      />
    </div>
  );
}
