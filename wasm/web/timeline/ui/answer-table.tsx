import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { copyText } from "../../base/clipboard";
import { download } from "../../base/download";
import { formatCount } from "../../base/format";
import { type Labels, labelOf } from "../../base/labels";
import type { AnswerColumn, Cell, Part, AnswerTable as Table } from "../../source/protocol";
import { isNumeric, readCell, sortedRows, written } from "../answer";
import type { Timeline } from "../timeline";
import { Icon } from "./icons";

interface Props {
  readonly timeline: Timeline;
  readonly table: Table;
  /** Asks for more rows. */
  readonly more: () => void;
}

/** A column that is shown. */
interface Shown {
  readonly column: AnswerColumn;
  readonly at: number;
  readonly isNumber: boolean;
}

/** What lies where in each row. */
interface Places {
  readonly shown: readonly Shown[];
  readonly name: number;
  readonly event: number;
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
  const places = placesIn(table);
  const { shown } = places;
  const partOf = (row: number) => timeline.overview.parts[table.parts?.[row] ?? 0];
  const sort = ({ at, isNumber }: Shown) =>
    setOrder({ column: at, descends: known?.column === at ? !known.descends : isNumber });
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
          onClick={() => download(`${table.name}.csv`, written(table, rows, ","), "text/csv")}
        >
          <Icon name="down" /> CSV
        </button>
      </header>
      <div class="ks-answer-rows">
        <table class="ks-table ks-rank">
          <thead>
            <tr>
              {shown.map((one) => (
                <Head key={one.at} shown={one} order={known} sort={() => sort(one)} />
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Line
                key={row}
                timeline={timeline}
                cells={table.rows[row] ?? []}
                part={partOf(row)}
                labels={table.labels}
                {...places}
              />
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

/** Columns in which nothing is are not shown. */
function placesIn(table: Table): Places {
  const { columns, rows } = table;
  const all = columns.map((column, at) => ({ column, at, isNumber: isNumeric(table, at) }));
  return {
    shown: all.filter(({ at }) => rows.some((row) => row[at] !== null)),
    name: columns.findIndex(({ name }) => name === "name"),
    event: columns.findIndex(({ role }) => role === "event"),
  };
}

interface HeadProps {
  readonly shown: Shown;
  readonly order: Order | null;
  readonly sort: () => void;
}

function Head({ shown: { column, at, isNumber }, order, sort }: HeadProps): JSX.Element {
  const isSorted = order?.column === at;
  const direction = order?.descends ? "descending" : "ascending";
  return (
    <th class={isNumber ? "ks-number" : ""} aria-sort={isSorted ? direction : "none"}>
      <button type="button" class="ks-sort" onClick={sort}>
        {titleOf(column)}
        {isSorted && (order?.descends ? " ▾" : " ▴")}
      </button>
    </th>
  );
}

/** The unit is beside each value. */
const titleOf = ({ name }: AnswerColumn): string => name.replace(/_(ns|bytes)$/, "").replaceAll("_", " ");

interface LineProps extends Places {
  readonly timeline: Timeline;
  readonly cells: readonly Cell[];
  readonly part: Part | undefined;
  readonly labels: Labels;
}

function Line({ timeline, cells, part, labels, shown, name, event }: LineProps): JSX.Element {
  const target = cells[event];
  return (
    <tr>
      {shown.map(({ column, at, isNumber }) => {
        const cell = cells[at] ?? null;
        if (at === name && typeof target === "number")
          return (
            <NameCell
              key={at}
              name={String(cell)}
              label={labelOf(labels, String(cell))}
              visit={() => timeline.go(target)}
            />
          );
        if (column.role === "event" && typeof cell === "number")
          return <EventCell key={at} id={cell} visit={() => timeline.go(cell)} />;
        const text = labelOf(labels, readCell(cell, column, part));
        return <PlainCell key={at} text={text} cell={cell} isNumber={isNumber} />;
      })}
    </tr>
  );
}

function NameCell({ name, label, visit }: { name: string; label: string; visit: () => void }): JSX.Element {
  return (
    <td class="ks-name-cell">
      <button type="button" class="ks-link" title={`${name}\nGo there`} onClick={visit}>
        <span>{label}</span>
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
      {text}
    </td>
  );
}
