import type { ComponentChildren, JSX } from "preact";
import { type Labels, labelOf } from "../../base/labels";
import type { EventId } from "../../source/protocol";
import { Cut } from "./cut";

export interface RankColumn<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly isNumber?: boolean;
  readonly isBar?: boolean;
  /** Left out where the table is narrow. */
  readonly isExtra?: boolean;
  /** An event's name: cut to one line, full on hover, with a link to its longest event. */
  readonly isName?: boolean;
}

interface Props<Row> {
  readonly rows: readonly Row[];
  readonly columns: readonly RankColumn<Row>[];
  /** Short labels of the names. */
  readonly labels?: Labels;
  readonly visit?: (id: EventId) => void;
}

/** A table of names by time. */
export function RankTable<Row extends object>({ rows, columns, labels = {}, visit }: Props<Row>): JSX.Element {
  return (
    <table class="ks-table ks-rank">
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.title} class={classOf(column)}>
              {column.title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={String(index)}>
            {columns.map((column) => (
              <td key={column.title} class={classOf(column)}>
                {column.isName ? (
                  <Name name={String(column.cell(row))} {...{ labels, row, visit }} />
                ) : (
                  column.cell(row)
                )}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function classOf(column: Pick<RankColumn<never>, "isNumber" | "isBar" | "isName" | "isExtra">): string {
  if (column.isNumber) return column.isExtra ? "ks-number ks-extra" : "ks-number";
  if (column.isBar) return "ks-bar-cell";
  return column.isName ? "ks-name-cell" : "";
}

interface NameProps {
  readonly name: string;
  readonly labels: Labels;
  readonly row: { readonly longest_id?: EventId };
  readonly visit: ((id: EventId) => void) | undefined;
}

function Name({ name, labels, row, visit }: NameProps): JSX.Element {
  const id = row.longest_id;
  if (id === undefined || !visit) return <span title={name}>{labelOf(labels, name)}</span>;
  return (
    <button type="button" class="ks-link" title={`${name}\nGo to the longest event`} onClick={() => visit(id)}>
      <Cut text={labelOf(labels, name)} />
    </button>
  );
}
