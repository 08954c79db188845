import type { JSX } from "preact";
import { copyText } from "../../base/clipboard";
import { download } from "../../base/download";
import { formatCount } from "../../base/format";
import { type Labels, labelOf } from "../../base/labels";
import { messageOf } from "../../source/source";
import type { AnswerColumn, Order, AnswerTable as Table, TableCell } from "../../source/tables";
import { isNumeric, longestOf, type RowScale, readCell, written } from "../answer";
import type { Timeline } from "../timeline";
import { Cut } from "./cut";
import { Icon } from "./icons";

/** Titles of columns by their names; these columns come right after the first text. */
export type Heads = Readonly<Record<string, string>>;

interface Props {
  readonly timeline: Timeline;
  readonly table: Table;
  /** Order of the rows, where the reader chose one. */
  readonly order: Order | null;
  readonly heads: Heads;
  readonly sort: (column: string, descends: boolean) => void;
  /** Requests all rows in the same order. */
  readonly whole: () => Promise<Table | undefined>;
  /** Requests more rows. */
  readonly more: () => void;
}

/** A visible column. */
interface VisibleColumn {
  readonly column: AnswerColumn;
  readonly at: number;
  readonly isNumber: boolean;
}

/** Indices of columns with a role. */
interface ColumnPlaces {
  readonly shown: readonly VisibleColumn[];
  readonly name: number;
  readonly event: number;
}

/** A table of an analysis: sortable, copyable, with links to events. */
export function AnswerTable({ timeline, table, order, heads, sort, whole, more }: Props): JSX.Element {
  const places = placesIn(table, heads);
  const { shown } = places;
  const scaleOf = (cells: readonly TableCell[], row: number): RowScale => ({
    part: timeline.overview.parts[table.parts?.[row] ?? 0],
    longest: longestOf(cells, table.columns),
  });
  const descends = ({ column, isNumber }: VisibleColumn) =>
    order?.column === column.name ? !order.descends : isNumber;
  const take = (use: (table: Table) => void | Promise<void>) =>
    whole()
      .then((all) => all && use(all))
      .catch((error: unknown) => timeline.error.set(messageOf(error)));
  const copy = (button: HTMLElement) => take((all) => copyText(written(all, "\t"), button));
  const save = () => take((all) => download(`${all.name}.csv`, written(all, ","), "text/csv"));
  return (
    <div class="ks-answer">
      <header>
        <span title={table.doc}>
          {table.doc} · {countOf(table)}
        </span>
        <button type="button" class="ks-button" title="Copy all rows" onClick={(e) => copy(e.currentTarget)}>
          <Icon name="copy" /> Copy
        </button>
        <button type="button" class="ks-button" title="Save all rows as CSV" onClick={save}>
          <Icon name="down" /> CSV
        </button>
      </header>
      <div class="ks-answer-rows">
        <table class="ks-table ks-rank">
          <thead>
            <tr>
              {shown.map((one) => (
                <Head
                  key={one.at}
                  shown={one}
                  title={heads[one.column.name] ?? titleOf(one, shown)}
                  order={order}
                  sort={() => sort(one.column.name, descends(one))}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map((cells, row) => (
              <Line key={row} {...{ timeline, cells, labels: table.labels, scale: scaleOf(cells, row) }} {...places} />
            ))}
          </tbody>
        </table>
      </div>
      {table.rows.length < table.num_rows && (
        <button type="button" class="ks-button" onClick={more}>
          Show more of {formatCount(table.num_rows)} rows
        </button>
      )}
    </div>
  );
}

function countOf({ rows, num_rows: all }: Table): string {
  return rows.length < all ? `first ${formatCount(rows.length)} of ${formatCount(all)}` : formatCount(all);
}

/** Hides empty columns. */
function placesIn(table: Table, heads: Heads): ColumnPlaces {
  const { columns, rows } = table;
  const all = columns.map((column, at) => ({ column, at, isNumber: isNumeric(table, at) }));
  return {
    shown: inPlace(
      all.filter(({ at }) => rows.some((row) => row[at] !== null)),
      heads,
    ),
    name: columns.findIndex(({ name }) => name === "name"),
    event: columns.findIndex(({ role }) => role === "event"),
  };
}

/** Puts the columns of `heads` right after the first one. */
function inPlace([first, ...others]: readonly VisibleColumn[], heads: Heads): readonly VisibleColumn[] {
  if (!first) return [];
  const isHead = ({ column }: VisibleColumn) => column.name in heads;
  return [first, ...others.filter(isHead), ...others.filter((column) => !isHead(column))];
}

interface HeadProps {
  readonly shown: VisibleColumn;
  readonly title: string;
  readonly order: Order | null;
  readonly sort: () => void;
}

function Head({ shown: { column, isNumber }, title, order, sort }: HeadProps): JSX.Element {
  const isSorted = order?.column === column.name;
  const direction = order?.descends ? "descending" : "ascending";
  return (
    <th class={isNumber ? "ks-number" : ""} aria-sort={isSorted ? direction : "none"}>
      <button type="button" class="ks-sort" onClick={sort}>
        {title}
        {isSorted && (order?.descends ? " ▼" : " ▲")}
      </button>
    </th>
  );
}

const withoutUnit = ({ name }: AnswerColumn): string => name.replace(/_(ns|bytes)$/, "");

/** Names the unit only where it distinguishes columns: each value has it. */
function titleOf({ column }: VisibleColumn, all: readonly VisibleColumn[]): string {
  const isOnly = all.every((other) => other.column === column || withoutUnit(other.column) !== withoutUnit(column));
  return (isOnly ? withoutUnit(column) : column.name).replaceAll("_", " ");
}

interface RowProps extends ColumnPlaces {
  readonly timeline: Timeline;
  readonly cells: readonly TableCell[];
  readonly scale: RowScale;
  readonly labels: Labels;
}

function Line({ timeline, cells, scale, labels, shown, name, event }: RowProps): JSX.Element {
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
        const text = labelOf(labels, readCell(cell, column, scale));
        return <PlainCell key={at} text={text} cell={cell} isNumber={isNumber} />;
      })}
    </tr>
  );
}

function NameCell({ name, label, visit }: { name: string; label: string; visit: () => void }): JSX.Element {
  return (
    <td class="ks-name-cell">
      <button type="button" class="ks-link" title={`${name}\nGo to the event`} onClick={visit}>
        <Cut text={label} />
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

function PlainCell({ text, cell, isNumber }: { text: string; cell: TableCell; isNumber: boolean }): JSX.Element {
  return (
    <td class={isNumber ? "ks-number" : "ks-text-cell"} title={String(cell ?? "")}>
      {text}
    </td>
  );
}
