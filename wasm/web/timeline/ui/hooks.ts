import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
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

/** For an element that may go away while it has the focus: `leave` then gives it to another one, or the keys would go to the page. */
export function useLeaving<T extends HTMLElement>(leave: () => void): RefObject<T | null> {
  const box = useRef<T>(null);
  useLayoutEffect(() => {
    const { current } = box;
    return () => {
      if (current?.matches(":focus-within")) leave();
    };
  }, []);
  return box;
}
