import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Cell } from "../../base/cell";
import { Cleanup } from "../../base/cleanup";

/** Returns the cell's value, and renders again when it changes. */
export function useCell<T>(cell: Cell<T>): T {
  const [, redraw] = useState<unknown>();
  useEffect(() => {
    // A change between rendering and this effect would be missed.
    redraw(cell.value);
    return cell.subscribe(() => redraw(cell.value));
  }, [cell]);
  return cell.value;
}

/**
 * Renders again when one of the cells changes, at most once per frame: rendering may change a cell.
 */
export function useFrames(cells: readonly Pick<Cell<unknown>, "subscribe">[]): void {
  const [, redraw] = useState(0);
  useEffect(() => {
    const cleanup = new Cleanup();
    let frame = 0;
    const draw = () => {
      frame = 0;
      redraw((n) => n + 1);
    };
    const request = () => {
      frame ||= requestAnimationFrame(draw);
    };
    for (const cell of cells) cleanup.add(cell.subscribe(request));
    cleanup.add(() => cancelAnimationFrame(frame));
    // A change between rendering and this effect would be missed.
    request();
    return () => cleanup.run();
  }, cells);
}

/** Returns `read(value)`, and renders again only when the result changes. */
export function useDerived<T, U>(cell: Cell<T>, read: (value: T) => U): U {
  const [, redraw] = useState<U>();
  useEffect(() => cell.subscribe(() => redraw(() => read(cell.value))), [cell, read]);
  return read(cell.value);
}

/**
 * For an element that may disappear while it has the focus: `leave` then moves the focus, so that
 * keys do not reach the page.
 */
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
