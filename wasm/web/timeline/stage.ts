import type { Cell } from "../base/cell";
import { Cleanup } from "../base/cleanup";
import type { TextFitter } from "../base/text";
import type { Surroundings } from "./input/commands";
import { Keyboard } from "./input/keyboard";
import { Pointer } from "./input/pointer";
import { keepPageStill, WheelOwner } from "./input/wheel-owner";
import type { Look } from "./look";
import { MinimapView } from "./minimap-view";
import { fitterOf } from "./paint/fitter";
import { paintHeader } from "./paint/header";
import { paintOverlay } from "./paint/overlay";
import { paintPath } from "./paint/path";
import type { Pill } from "./paint/pill";
import { paintRows } from "./paint/rows";
import { cssHeaderHeight, type Scene, sceneOf } from "./paint/scene";
import { Strip } from "./paint/strip";
import type { Timeline } from "./timeline";

/** Elements that the picture is drawn into. */
export interface StageElements {
  readonly root: HTMLElement;
  readonly picture: HTMLElement;
  readonly tracks: HTMLCanvasElement;
  readonly overlay: HTMLCanvasElement;
  readonly minimap: HTMLCanvasElement;
}

const COSTS = 60;
const AFTER_FIRST_PICTURE = 60;

type Watched = Pick<Cell<unknown>, "subscribe">;
// Frames to wait for a width: during a change of theme, a host may give the picture none.
const PATIENCE = 30;

/** Draws the timeline, at most once per frame, and only the changed parts. */
export class Stage {
  readonly #timeline: Timeline;
  readonly #elements: StageElements;
  readonly #look: Cell<Look>;
  readonly #minimap: MinimapView;
  readonly #keyboard: Keyboard;
  readonly #pointer: Pointer;
  readonly #cleanup = new Cleanup();
  readonly #strips = { pinned: new Strip(), scrolled: new Strip() };
  #fitter: TextFitter;
  #pills: readonly Pill[] = [];
  #frame = 0;
  #last = 0;
  #tracksStale = true;
  #costs: number[] = [];
  #framesWithoutSize = 0;
  #cssSize = { cssWidth: 0, cssHeight: 0 };

  constructor(timeline: Timeline, elements: StageElements, look: Cell<Look>, around: Surroundings) {
    this.#timeline = timeline;
    this.#elements = elements;
    this.#look = look;
    this.#fitter = fitterOf(look.value);
    this.#minimap = new MinimapView(timeline, elements.minimap, look);
    this.#keyboard = new Keyboard(elements.root, timeline, around, () => this.#request(false));
    const owner = new WheelOwner(elements.root, this.#cleanup);
    this.#pointer = new Pointer(timeline, {
      canvas: elements.overlay,
      pills: () => this.#pills,
      isUsed: () => owner.isTimeline,
    });
    keepPageStill(timeline, elements.root, owner, this.#cleanup);
    this.#cleanup.add(() => cancelAnimationFrame(this.#frame));
    this.#cleanup.add(() => this.#keyboard.close());
    this.#cleanup.add(() => this.#pointer.close());
    this.#cleanup.add(() => this.#minimap.close());
    this.#watchCells();
    this.#watchSize();
    this.#watchMotion();
    this.#cleanup.add(watchPixels(() => this.#request(true)));
    // Overlays load after the first picture.
    const later = setTimeout(() => timeline.askMarks(), AFTER_FIRST_PICTURE);
    this.#cleanup.add(() => clearTimeout(later));
  }

  close(): void {
    this.#cleanup.run();
  }

  #watchCells(): void {
    const timeline = this.#timeline;
    const { viewport } = timeline;
    const tracks = [viewport.window, viewport.scroll, timeline.layout, timeline.colorBy, timeline.stale];
    const cells: Watched[] = [
      ...tracks,
      timeline.search.found,
      timeline.search.placed,
      timeline.size,
      timeline.notes.all,
      timeline.notes.current,
    ];
    const { findings, path, changes } = timeline;
    cells.push(...[findings.all, findings.current, path.isOn, path.steps, changes.byName, timeline.waiting.isBusy]);
    for (const cell of cells) this.#cleanup.add(cell.subscribe(() => this.#request(true)));
    const { range, comparison, notes } = timeline;
    const marks = [timeline.selection.current, timeline.gaps.current, range.span, comparison.base, notes.passing];
    const light = [viewport.told, timeline.hover, timeline.pointer, ...marks];
    for (const cell of light) this.#cleanup.add(cell.subscribe(() => this.#request(false)));
    const relook = () => {
      this.#fitter = fitterOf(this.#look.value);
      this.#request(true);
    };
    this.#cleanup.add(this.#look.subscribe(relook));
  }

  #watchSize(): void {
    const measure = () => this.#measure();
    const observer = new ResizeObserver(measure);
    observer.observe(this.#elements.picture);
    this.#cleanup.add(() => observer.disconnect());
    // The first note adds a line to the header.
    this.#cleanup.add(this.#timeline.notes.all.subscribe(measure));
    this.#cleanup.add(this.#timeline.findings.all.subscribe(measure));
    measure();
  }

  /** Measures only after a change: it forces the page to lay out. */
  #measure(): void {
    const { clientWidth: width, clientHeight: height } = this.#elements.picture;
    this.#cssSize = { cssWidth: width, cssHeight: height };
    this.#timeline.size.set({ width, height: Math.max(0, height - cssHeaderHeight(this.#timeline)) });
  }

  #watchMotion(): void {
    const query = matchMedia("(prefers-reduced-motion: reduce)");
    const read = () => {
      this.#timeline.viewport.calm = query.matches;
    };
    query.addEventListener("change", read);
    this.#cleanup.add(() => query.removeEventListener("change", read));
    read();
  }

  #request(tracks: boolean): void {
    this.#tracksStale ||= tracks;
    // Animations advance here, so a new target needs a frame.
    if (this.#frame === 0) this.#frame = requestAnimationFrame((now) => this.#paint(now));
  }

  #paint(now: number): void {
    const begun = performance.now();
    // After a pause, the time since the last frame is meaningless for an animation.
    const ms = Math.min(48, now - this.#last || 16);
    this.#last = now;
    this.#keyboard.held.glide(this.#timeline, now, ms);
    const moving = this.#timeline.viewport.advance(ms) || this.#keyboard.held.any;
    this.#frame = 0;
    if (this.#framesWithoutSize > 0) this.#measure();
    const scene = this.#scene();
    const hasSize = scene.width > 0 && scene.height > 0;
    const isComplete = hasSize && this.#draw(scene);
    this.#framesWithoutSize = isComplete ? 0 : this.#framesWithoutSize + 1;
    this.#tell(performance.now() - begun);
    if (moving || (!isComplete && this.#framesWithoutSize < PATIENCE)) this.#request(false);
  }

  /** Returns false if the minimap had no size, and so keeps its old picture. */
  #draw(scene: Scene): boolean {
    const { tracks, overlay } = this.#elements;
    if (fitCanvas(tracks, scene) || this.#tracksStale) {
      this.#tracksStale = false;
      this.#timeline.tiles.beginFrame(this.#timeline.viewport.window.value);
      const context = tracks.getContext("2d", { alpha: false });
      if (context) paintTracks(context, scene);
      this.#timeline.tellWaiting();
    }
    fitCanvas(overlay, scene);
    const context = overlay.getContext("2d");
    if (context) this.#pills = paintOverlay(context, scene, this.#timeline.pointer.value);
    const isComplete = this.#minimap.paint(scene.dpr);
    this.#pointer.drawn();
    this.#timeline.isDrawn.set(true);
    return isComplete;
  }

  #scene(): Scene {
    const dpr = window.devicePixelRatio || 1;
    const tools = { fitter: this.#fitter, strips: this.#strips };
    return sceneOf(this.#timeline, this.#look.value, tools, { ...this.#cssSize, dpr });
  }

  /** Publishes the costliest of the last frames, in milliseconds, for tests. */
  #tell(cost: number): void {
    this.#costs = [...this.#costs.slice(1 - COSTS), cost];
    this.#elements.tracks.setAttribute("data-cost", Math.max(...this.#costs).toFixed(1));
  }
}

function paintTracks(context: CanvasRenderingContext2D, scene: Scene): void {
  context.fillStyle = scene.look.background;
  context.fillRect(0, 0, scene.width, scene.height);
  paintRows(context, scene);
  paintPath(context, scene);
  paintHeader(context, scene);
}

/** Calls `changed` when the device pixel ratio changes. Returns a function that ends it. */
function watchPixels(changed: () => void): () => void {
  const ended = new AbortController();
  const watch = () => {
    const query = matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
    const next = () => {
      changed();
      watch();
    };
    query.addEventListener("change", next, { once: true, signal: ended.signal });
  };
  watch();
  return () => ended.abort();
}

/** Returns true if the canvas was resized, and so is empty. */
function fitCanvas(canvas: HTMLCanvasElement, { width, height, dpr }: Scene): boolean {
  if (canvas.width === width && canvas.height === height) return false;
  canvas.width = width;
  canvas.height = height;
  // A fractional box would stretch and blur the picture.
  canvas.style.width = `${width / dpr}px`;
  canvas.style.height = `${height / dpr}px`;
  return true;
}
