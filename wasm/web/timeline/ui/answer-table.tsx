import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { copyText } from "../../base/clipboard";
import { formatCount } from "../../base/format";
import { shortName } from "../../base/names";
import type { AnswerColumn, Cell, AnswerTable as Table } from "../../source/protocol";
import { isNumeric, readCell, sortedRows, written } from "../answer";
import type { Timeline } from "../timeline";
import { download } from "./download";
import { Icon } from "./icons";

interface Props {
  readonly timeline: Timeline;
  readonly table: Table;
  /** Asks for more rows. */
  readonly more: () => void;
}

interface Order {
  readonly column: number;
  readonly descends: boolean;
}

/** Any table that the core answers with: to sort, to copy, and to go from to the events that it names. */
export function AnswerTable({ timeline, table, more }: Props): JSX.Element {
  const [order, setOrder] = useState<Order | null>(null);
  const known = order && order.column < table.columns.length ? order : null;
  const rows = known ? sortedRows(table, known.column, known.descends) : table.rows.map((_, row) => row);
  const shown = table.columns.map((_, at) => at).filter((at) => table.rows.some((row) => row[at] !== null));
  const sort = (column: number) =>
    setOrder({ column, descends: known?.column === column ? !known.descends : isNumeric(table, column) });
  return (
    <div class="ks-answer">
      <header>
        <span title={table.doc}>
          {table.doc} · {countOf(table)}
        </span>
        <button type="button" class="ks-button" onClick={(e) => copyText(written(table, rows, "\t"), e.currentTarget)}>
          <Icon name="copy" /> Copy
        </button>
        <button
          type="button"
          class="ks-button"
          onClick={() => download(`${table.name}.csv`, written(table, rows, ","))}
        >
          <Icon name="down" /> CSV
        </button>
      </header>
      <div class="ks-answer-rows">
        <table class="ks-table ks-rank">
          <thead>
            <tr>
              {shown.map((at) => (
                <Head key={at} table={table} at={at} order={known} sort={sort} />
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Line key={row} timeline={timeline} table={table} row={row} shown={shown} />
            ))}
          </tbody>
        </table>
      </div>
      {table.rows.length < table.num_rows && (
        <button type="button" class="ks-button" onClick={more}>
          Show more of {formatCount(table.num_rows)}
        </button>
      )}
    </div>
  );
}

function countOf({ rows, num_rows: all }: Table): string {
  return rows.length < all ? `the first ${formatCount(rows.length)} of ${formatCount(all)}` : formatCount(all);
}

interface HeadProps {
  readonly table: Table;
  readonly at: number;
  readonly order: Order | null;
  readonly sort: (column: number) => void;
}

function Head({ table, at, order, sort }: HeadProps): JSX.Element {
  const column = table.columns[at];
  const isSorted = order?.column === at;
  const direction = order?.descends ? "descending" : "ascending";
  return (
    <th class={isNumeric(table, at) ? "ks-number" : ""} aria-sort={isSorted ? direction : "none"}>
      <button type="button" class="ks-sort" onClick={() => sort(at)}>
        {labelOf(column)}
        {isSorted && (order?.descends ? " ▾" : " ▴")}
      </button>
    </th>
  );
}

/** The unit is beside each value. */
const labelOf = (column: AnswerColumn | undefined): string =>
  (column?.name ?? "").replace(/_(ns|bytes)$/, "").replaceAll("_", " ");

interface LineProps {
  readonly timeline: Timeline;
  readonly table: Table;
  readonly row: number;
  readonly shown: readonly number[];
}

function Line({ timeline, table, row, shown }: LineProps): JSX.Element {
  const { parts } = timeline.overview;
  const part = parts[table.parts?.[row] ?? 0];
  const cells = table.rows[row] ?? [];
  const name = table.columns.findIndex(({ name: column }) => column === "name");
  const event = table.columns.findIndex(({ role }) => role === "event");
  const target = cells[event];
  return (
    <tr>
      {shown.map((at) => {
        const column = table.columns[at];
        const cell = cells[at] ?? null;
        if (!column) return null;
        if (at === name && typeof target === "number")
          return <NameCell key={at} name={String(cell)} visit={() => timeline.go(target)} />;
        if (column.role === "event" && typeof cell === "number")
          return <EventCell key={at} id={cell} visit={() => timeline.go(cell)} />;
        return <PlainCell key={at} text={readCell(cell, column, part)} cell={cell} isNumber={isNumeric(table, at)} />;
      })}
    </tr>
  );
}

function NameCell({ name, visit }: { name: string; visit: () => void }): JSX.Element {
  return (
    <td class="ks-name-cell">
      <button type="button" class="ks-link" title={`${name}\nGo there`} onClick={visit}>
        <span>{shortName(name)}</span>
      </button>
    </td>
  );
}

function EventCell({ id, visit }: { id: number; visit: () => void }): JSX.Element {
  return (
    <td class="ks-number">
      <button type="button" class="ks-link ks-id" title="Go to the event" onClick={visit}>
        {id}
      </button>
    </td>
  );
}

function PlainCell({ text, cell, isNumber }: { text: string; cell: Cell; isNumber: boolean }): JSX.Element {
  return (
    <td class={isNumber ? "ks-number" : "ks-text-cell"} title={String(cell ?? "")}>
      {isNumber ? text : shortName(text)}
    </td>
  );
}
