import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Cell } from "../../base/cell";
import { Cleanup } from "../../base/cleanup";

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

/** Draws again when one of the cells is replaced, but once a frame: for drawings that themselves may have one replaced. */
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
    // What changed between the drawing and this effect would be missed.
    request();
    return () => cleanup.run();
  }, cells);
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
