import type { Flame } from "../flame";
import { visitFrame } from "../flame-links";
import { type FlameTree, NONE } from "../flame-tree";
import type { Timeline } from "../timeline";

const ZOOM = 1.35;

type RunKey = (timeline: Timeline) => void;

const KEYS: Readonly<Record<string, RunKey>> = {
  ArrowDown: ({ flame }) => step(flame, (tree, row) => tree.inner(row)),
  ArrowUp: ({ flame }) => step(flame, outer),
  ArrowLeft: ({ flame }) => step(flame, (tree, row) => tree.beside(row, -1)),
  ArrowRight: ({ flame }) => step(flame, (tree, row) => tree.beside(row, 1)),
  Enter: ({ flame }) => flame.zoomTo(flame.chosen.value),
  Backspace: ({ flame }) => flame.zoomTo(flame.widest.at(-2) ?? NONE),
  Home: ({ flame }) => flame.zoomTo(NONE),
  "0": ({ flame }) => flame.zoomTo(NONE),
  w: ({ flame }) => zoom(flame, 1 / ZOOM),
  s: ({ flame }) => zoom(flame, ZOOM),
  e: ({ flame }) => flame.close(),
  t: visitFrame,
  Escape: ({ flame }) => back(flame),
};

/** Runs a key's command on the open flame graph; false for other keys. */
export function pressFlame(timeline: Timeline, key: string): boolean {
  const run = KEYS[key.length === 1 ? key.toLowerCase() : key];
  run?.(timeline);
  return run !== undefined;
}

function zoom({ viewport }: Flame, factor: number): void {
  viewport.zoom(factor, (viewport.target.start + viewport.target.end) / 2, true);
}

function outer(tree: FlameTree, row: number): number {
  const around = tree.parents[row] as number;
  return around === NONE ? row : around;
}

/** Chooses another frame from the chosen one, at first the widest. */
function step(flame: Flame, next: (tree: FlameTree, row: number) => number): void {
  const tree = flame.tree.value;
  if (!tree || tree.levels.length === 0) return;
  const row = flame.chosen.value === NONE ? 0 : next(tree, flame.chosen.value);
  flame.reveal(row);
}

function back(flame: Flame): void {
  if (flame.chosen.value !== NONE) flame.select(NONE);
  else if (!flame.viewport.isWhole) flame.zoomTo(NONE);
  else if (flame.options.value.focus !== undefined) flame.choose({ focus: undefined });
  else flame.close();
}
