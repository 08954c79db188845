import type { Cleanup } from "../../base/cleanup";
import type { Timeline } from "../timeline";
import { turnWheel } from "./wheel";

// A scroll of the page that reaches the timeline goes on until the wheel rests for this long.
const REST_MS = 200;

/** Decides whether the wheel is the timeline's or the page's. */
export class WheelOwner {
  readonly #root: HTMLElement;
  #wasUsed = false;
  /** Time of the last turn that was the page's. */
  #passed = Number.NEGATIVE_INFINITY;

  constructor(root: HTMLElement, cleanup: Cleanup) {
    this.#root = root;
    const use = () => {
      this.#wasUsed = true;
    };
    const turn = (event: WheelEvent) => this.#turn(event);
    root.addEventListener("focusin", use);
    window.addEventListener("wheel", turn, { capture: true, passive: true });
    cleanup.add(() => root.removeEventListener("focusin", use));
    cleanup.add(() => window.removeEventListener("wheel", turn, { capture: true }));
  }

  /** Whether the reader uses the timeline: it has the focus, or had it before. */
  get isTimeline(): boolean {
    return hasFocus(this.#root) || (this.#wasUsed && !this.#isPassing(performance.now()));
  }

  #isPassing(now: number): boolean {
    return now - this.#passed < REST_MS;
  }

  #turn(event: WheelEvent): void {
    const isOutside = !event.composedPath().includes(this.#root);
    if (isOutside || this.#isPassing(event.timeStamp)) this.#passed = event.timeStamp;
  }
}

function hasFocus(root: HTMLElement): boolean {
  const scope = root.getRootNode() as Document | ShadowRoot;
  return root.contains(scope.activeElement);
}

/**
 * Handles the wheel beside the picture, where it is the timeline's. It scrolls the tracks over
 * their names, and else nothing but the lists in the timeline.
 */
export function keepPageStill(timeline: Timeline, root: HTMLElement, owner: WheelOwner, cleanup: Cleanup): void {
  const turn = (event: WheelEvent) => {
    const path = event.composedPath();
    const inside = path.slice(0, Math.max(0, path.indexOf(root))).filter((part) => part instanceof HTMLElement);
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || !owner.isTimeline) return;
    if (inside.some(isScrollable)) return;
    event.preventDefault();
    if (!inside.some(({ classList }) => classList.contains("ks-gutter"))) return;
    turnWheel(timeline, event, { x: 0, onHeader: false, isUsed: true });
  };
  root.addEventListener("wheel", turn, { passive: false });
  cleanup.add(() => root.removeEventListener("wheel", turn));
}

function isScrollable(element: HTMLElement): boolean {
  const { overflowX, overflowY } = getComputedStyle(element);
  const has = (overflow: string, whole: number, shown: number) => /auto|scroll/.test(overflow) && whole > shown;
  return (
    has(overflowY, element.scrollHeight, element.clientHeight) ||
    has(overflowX, element.scrollWidth, element.clientWidth)
  );
}
