import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { formatExact } from "../../base/format";
import { type CounterPoint, readValue } from "../counters";
import { FIRST_TABLE } from "../range";
import type { Timeline } from "../timeline";
import { AnswerTables, allRows, useAnswer } from "./answer-tables";
import { Fact } from "./fact";

interface Props {
  readonly timeline: Timeline;
  readonly point: CounterPoint;
}

/** A counter at a time, with its extremes; of memory also who held it at the peak. */
export function CounterPanel({ timeline, point }: Props): JSX.Element {
  const { counter, time, value } = point;
  const read = (number: number) => readValue(number, counter.unit);
  return (
    <div class="ks-event">
      <h3>
        <span class="ks-event-name">{counter.name}</span>
      </h3>
      <dl class="ks-facts">
        <Fact name="value">
          <b>{value === null ? "none yet" : read(value)}</b>
        </Fact>
        <Fact name="at">{formatExact(time)}</Fact>
        <Fact name="least">{read(counter.least)}</Fact>
        <Fact name="greatest">{read(counter.greatest)}</Fact>
        {timeline.overview.parts.length > 1 && <Fact name="trace">{timeline.partName(counter.part)}</Fact>}
      </dl>
      {counter.unit === "bytes" && <Holders timeline={timeline} part={counter.part} />}
    </div>
  );
}

// Tables of the analysis of memory in the order of interest.
const TABLES: readonly string[] = ["memory_owners", "memory_categories"];

function Holders({ timeline, part }: { timeline: Timeline; part: number }): JSX.Element | null {
  const [query, setQuery] = useState(FIRST_TABLE);
  const { order, limit } = query;
  const asked = { name: "memory", part, order, limit };
  const answer = useAnswer(timeline, "analyze", asked);
  if (typeof answer === "string" || !answer) return <p class="ks-note">{answer ?? "Computing …"}</p>;
  const tables = TABLES.flatMap((name) => answer.tables.filter((table) => table.name === name && table.num_rows > 0));
  if (tables.length === 0) return null;
  return (
    <>
      <h4>held at the peak</h4>
      <AnswerTables
        timeline={timeline}
        tables={tables}
        doc="table"
        query={query}
        heads={{ peak_bytes: "at the peak" }}
        ask={(change) => setQuery({ ...query, ...change })}
        choose={(table) => setQuery({ ...FIRST_TABLE, table })}
        whole={() => allRows(timeline, "analyze", asked)}
      />
    </>
  );
}
