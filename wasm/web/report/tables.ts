import { makeCopyable } from "./copyable";
import { cutName } from "./cut-names";
import { makeSortable } from "./sortable";

/** Makes static tables interactive. Needs no core. */
export function dressTables(around: ParentNode): void {
  for (const table of around.querySelectorAll("table")) makeSortable(table);
  for (const cell of around.querySelectorAll<HTMLElement>("td.ks-name")) {
    makeCopyable(cell);
    cutName(cell);
  }
}
