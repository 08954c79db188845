import { useEffect, useState } from "preact/hooks";
import type { Cell } from "../../base/cell";

/** The cell's value; draws again when it is replaced. */
export function useCell<T>(cell: Cell<T>): T {
  const [, redraw] = useState<unknown>();
  useEffect(() => {
    // What changed between the drawing and this effect would be missed.
    redraw(cell.value);
    return cell.subscribe(() => redraw(cell.value));
  }, [cell]);
  return cell.value;
}

/** `read(cell's value)`; draws again only when that changes. */
export function useDerived<T, U>(cell: Cell<T>, read: (value: T) => U): U {
  const [, redraw] = useState<U>();
  useEffect(() => cell.subscribe(() => redraw(() => read(cell.value))), [cell, read]);
  return read(cell.value);
}
