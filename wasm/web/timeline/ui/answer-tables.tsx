import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Answer, Ask } from "../../source/protocol";
import { ALL_ROWS } from "../../source/rows";
import { messageOf, settle } from "../../source/source";
import type { AnswerTable as Table } from "../../source/tables";
import type { TableQuery } from "../range";
import type { Timeline } from "../timeline";
import { AnswerTable, type Heads } from "./answer-table";

const MORE = 10;

/** A request with tables in its answer. */
type TableRequest = "analyze" | "compare" | "hits";

interface Props {
  readonly timeline: Timeline;
  readonly tables: readonly Table[];
  readonly doc: string;
  readonly query: TableQuery;
  readonly heads?: Heads;
  readonly ask: (change: Partial<TableQuery>) => void;
  /** Chooses a table, without an order. */
  readonly choose: (table: number) => void;
  /** Requests all rows of all tables, in the same order. */
  readonly whole: () => Promise<readonly Table[]>;
}

/** The tables of an answer, one at a time. */
export function AnswerTables({ timeline, tables, doc, query, heads = {}, ask, choose, whole }: Props): JSX.Element {
  const shown = tables[query.table] ?? tables[0];
  return (
    <>
      {tables.length > 1 && (
        <label class="ks-which">
          {doc}:{" "}
          <select value={query.table} onChange={(event) => choose(Number(event.currentTarget.value))}>
            {tables.map((one, at) => (
              <option key={one.name} value={at}>
                {one.name.replaceAll("_", " ")} ({one.num_rows})
              </option>
            ))}
          </select>
        </label>
      )}
      {shown && shown.num_rows > 0 && (
        <AnswerTable
          key={shown.name}
          timeline={timeline}
          table={shown}
          order={query.order}
          heads={heads}
          sort={(column, descends) => ask({ order: { table: shown.name, column, descends } })}
          whole={async () => (await whole()).find((one) => one.name === shown.name)}
          more={() => ask({ limit: query.limit * MORE })}
        />
      )}
    </>
  );
}

/** The answer; null while it is pending, a text where it failed. */
export function useAnswer<T extends TableRequest>(
  { source }: Timeline,
  type: T,
  asked: Ask<T>,
): Answer<T> | string | null {
  const [answer, setAnswer] = useState<Answer<T> | string | null>(null);
  useEffect(() => {
    let wanted = true;
    const use = (found: Answer<T> | string) => wanted && setAnswer(() => found);
    const ask = () =>
      settle(
        () => source.query(type, asked),
        use,
        (error) => use(messageOf(error)),
      );
    // The panel is drawn first: an answer may take a moment.
    const later = setTimeout(ask, 0);
    return () => {
      wanted = false;
      clearTimeout(later);
    };
  }, [source, type, ...Object.values(asked)]);
  return answer;
}

/** All rows of the tables in the answer to a request. */
export async function allRows<T extends TableRequest>(
  { source }: Timeline,
  type: T,
  asked: Ask<T>,
): Promise<readonly Table[]> {
  const all: Ask<T> = Object.assign({}, asked, { limit: ALL_ROWS });
  return (await source.query(type, all)).tables;
}
