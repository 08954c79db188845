import type { Cell } from "../base/cell";
import { Cleanup } from "../base/cleanup";
import { scaleOf } from "../base/scale";
import type { TextFitter } from "../base/text";
import { type Flame, LEVEL_HEIGHT } from "./flame";
import { type FlameTree, NONE } from "./flame-tree";
import { turnPixels, ZOOM_PER_PIXEL } from "./input/wheel";
import type { Look } from "./look";
import { fitterOf } from "./paint/fitter";
import { paintFlame } from "./paint/flame";

const COSTS = 60;
/** Movements of the pointer below this many pixels are a click. */
const STILL = 4;

/** Draws a flame graph, at most once per frame, and handles mouse and wheel. */
export class FlameStage {
  readonly #flame: Flame;
  readonly #canvas: HTMLCanvasElement;
  readonly #look: Cell<Look>;
  readonly #cleanup = new Cleanup();
  #fitter: TextFitter;
  #frame = 0;
  #last = 0;
  #costs: number[] = [];
  #drag: { readonly x: number; readonly y: number; isMoved: boolean } | null = null;

  constructor(flame: Flame, canvas: HTMLCanvasElement, look: Cell<Look>) {
    this.#flame = flame;
    this.#canvas = canvas;
    this.#look = look;
    this.#fitter = fitterOf(look.value);
    const { viewport } = flame;
    viewport.calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const cells = [
      flame.tree,
      flame.chosen,
      flame.hovered,
      flame.search,
      viewport.told,
      viewport.window,
      viewport.scroll,
    ];
    for (const cell of cells) this.#cleanup.add(cell.subscribe(() => this.#request()));
    const relook = () => {
      this.#fitter = fitterOf(look.value);
      this.#request();
    };
    this.#cleanup.add(look.subscribe(relook));
    const observer = new ResizeObserver(() => this.#request());
    observer.observe(canvas);
    this.#cleanup.add(() => observer.disconnect());
    this.#cleanup.add(() => cancelAnimationFrame(this.#frame));
    this.#listen();
    this.#request();
  }

  close(): void {
    this.#cleanup.run();
  }

  /** The frame at a point of the canvas; `NONE` without one. */
  at(event: MouseEvent): number {
    const box = this.#canvas.getBoundingClientRect();
    const tree = this.#flame.tree.value;
    if (!tree) return NONE;
    const { viewport } = this.#flame;
    const level = Math.floor((event.clientY - box.top + viewport.scroll.value) / LEVEL_HEIGHT);
    return tree.at(level, scaleOf(viewport.window.value, box.width).time(event.clientX - box.left));
  }

  #listen(): void {
    const ended = new AbortController();
    const { signal } = ended;
    this.#cleanup.add(() => ended.abort());
    const canvas = this.#canvas;
    canvas.addEventListener("pointerdown", (event) => this.#down(event), { signal });
    canvas.addEventListener("pointermove", (event) => this.#move(event), { signal });
    canvas.addEventListener("pointerup", (event) => this.#up(event), { signal });
    canvas.addEventListener("pointerleave", () => this.#flame.hovered.set(NONE), { signal });
    canvas.addEventListener("dblclick", (event) => this.#flame.zoomTo(this.at(event)), { signal });
    canvas.addEventListener("wheel", (event) => this.#turn(event), { signal, passive: false });
  }

  #down(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.#drag = { x: event.clientX, y: event.clientY, isMoved: false };
    this.#canvas.setPointerCapture(event.pointerId);
  }

  #move(event: PointerEvent): void {
    const drag = this.#drag;
    if (!drag) {
      this.#flame.hovered.set(this.at(event));
      return;
    }
    const isStill = Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < STILL;
    if (!drag.isMoved && isStill) return;
    const { viewport } = this.#flame;
    const { start, end } = viewport.window.value;
    viewport.pan(((drag.x - event.clientX) / Math.max(1, this.#canvas.clientWidth)) * (end - start));
    viewport.scrollBy(drag.y - event.clientY);
    this.#drag = { x: event.clientX, y: event.clientY, isMoved: true };
  }

  #up(event: PointerEvent): void {
    const drag = this.#drag;
    this.#drag = null;
    if (drag && !drag.isMoved) this.#flame.select(this.at(event));
  }

  /** Ctrl or Cmd zooms, Shift or sideways moves; otherwise the levels scroll. */
  #turn(event: WheelEvent): void {
    event.preventDefault();
    const { viewport } = this.#flame;
    const { dx, dy } = turnPixels(event, this.#canvas.clientHeight);
    const { start, end } = viewport.window.value;
    const width = Math.max(1, this.#canvas.clientWidth);
    if (event.ctrlKey || event.metaKey) {
      const place = start + ((event.clientX - this.#canvas.getBoundingClientRect().left) / width) * (end - start);
      viewport.zoom(ZOOM_PER_PIXEL ** Math.max(-160, Math.min(160, dy)), place);
    } else if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) {
      viewport.pan(((dx || dy) / width) * (end - start));
    } else viewport.scrollBy(dy);
  }

  #request(): void {
    this.#frame ||= requestAnimationFrame((now) => this.#paint(now));
  }

  #paint(now: number): void {
    const begun = performance.now();
    const ms = Math.min(48, now - this.#last || 16);
    this.#last = now;
    this.#frame = 0;
    const tree = this.#flame.tree.value;
    const isMoving = this.#flame.viewport.advance(ms);
    if (tree) this.#draw(tree);
    // Publishes the costliest of the last frames, in milliseconds, for tests.
    this.#costs = [...this.#costs.slice(1 - COSTS), performance.now() - begun];
    this.#canvas.setAttribute("data-cost", Math.max(...this.#costs).toFixed(1));
    if (isMoving) this.#request();
  }

  #draw(tree: FlameTree): void {
    const { viewport, chosen, hovered, search } = this.#flame;
    const dpr = window.devicePixelRatio || 1;
    const { clientWidth, clientHeight } = this.#canvas;
    const [width, height] = [Math.round(clientWidth * dpr), Math.round(clientHeight * dpr)];
    if (this.#canvas.width !== width) this.#canvas.width = width;
    if (this.#canvas.height !== height) this.#canvas.height = height;
    viewport.limitScroll(tree.levels.length * LEVEL_HEIGHT - clientHeight);
    const context = this.#canvas.getContext("2d", { alpha: false });
    if (!context || width === 0) return;
    paintFlame(context, {
      tree,
      look: this.#look.value,
      fitter: this.#fitter,
      dpr,
      width,
      height,
      scroll: viewport.scroll.value,
      scale: scaleOf(viewport.window.value, width),
      hits: search.value?.hits ?? null,
      chosen: chosen.value,
      hovered: hovered.value,
    });
  }
}
