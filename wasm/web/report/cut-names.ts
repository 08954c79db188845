import { cutOf } from "../base/cut";

/** Splits the first part of a name, so that it is cut before its end where it has no room. */
export function cutName(cell: HTMLElement): void {
  const first = cell.querySelector("b");
  const text = first?.textContent ?? "";
  const at = cutOf(text);
  if (!first || at === null) return;
  const parts = [text.slice(0, at), text.slice(at)].map((part) => {
    const span = document.createElement("span");
    span.textContent = part;
    return span;
  });
  first.replaceChildren(...parts);
  cell.classList.add("ks-cut");
}
