import type { Cell } from "../base/cell";
import { Cleanup } from "../base/cleanup";
import { type Scale, scaleOf } from "../base/scale";
import { lengthOf, type Span, span } from "../base/time";
import type { Track } from "../source/protocol";
import { Dropped, messageOf, type Source, settle } from "../source/source";
import type { Look } from "./look";
import { type MinimapScene, paintFrame, paintWhole } from "./paint/minimap";
import { busiest } from "./row";
import { ownerOf } from "./tile-owner";
import type { Timeline } from "./timeline";
import { TrackTiles } from "./track-tiles";

const MAX_STRIPES = 12;
const GRIP = 6;

type Grip = "start" | "end" | "whole" | "new";

/** A strip with the whole trace and a frame around the visible part. */
export class MinimapView {
  readonly #timeline: Timeline;
  readonly #canvas: HTMLCanvasElement;
  readonly #look: Cell<Look>;
  readonly #cleanup = new Cleanup();
  readonly #trackTiles = new Map<number, TrackTiles>();
  #whole: HTMLCanvasElement | null = null;
  #wholeWidth = 0;
  #drag: { grip: Grip; from: number; window: Span } | null = null;

  constructor(timeline: Timeline, canvas: HTMLCanvasElement, look: Cell<Look>) {
    this.#timeline = timeline;
    this.#canvas = canvas;
    this.#look = look;
    const repaint = () => {
      this.#whole = null;
    };
    this.#cleanup.add(look.subscribe(repaint));
    for (const cell of [timeline.search.found, timeline.search.placed]) this.#cleanup.add(cell.subscribe(repaint));
    const renew = () => {
      this.#trackTiles.clear();
      this.#wholeWidth = 0;
      repaint();
    };
    this.#cleanup.add(timeline.setup.subscribe(renew));
    this.#cleanup.add(timeline.colorBy.subscribe(renew));
    this.#listen("pointerdown", (event) => this.#down(event));
    this.#listen("pointermove", (event) => this.#move(event));
    this.#listen("pointerup", (event) => this.#up(event));
    this.#listen("dblclick", () => timeline.viewport.show(timeline.viewport.bounds, true));
  }

  close(): void {
    this.#cleanup.run();
  }

  /** Returns false without a size: a host may hide the page while its theme loads. */
  paint(dpr: number): boolean {
    const scene = this.#scene(dpr);
    if (scene.width === 0) return false;
    if (this.#canvas.width !== scene.width) this.#canvas.width = scene.width;
    if (this.#canvas.height !== scene.height) this.#canvas.height = scene.height;
    const context = this.#canvas.getContext("2d", { alpha: false });
    if (!context) return true;
    context.drawImage(this.#paintedWhole(scene), 0, 0);
    paintFrame(context, scene);
    return true;
  }

  #scene(dpr: number): MinimapScene {
    const { clientWidth, clientHeight } = this.#canvas;
    const width = Math.round(clientWidth * dpr);
    return { timeline: this.#timeline, look: this.#look.value, dpr, width, height: Math.round(clientHeight * dpr) };
  }

  #paintedWhole(scene: MinimapScene): HTMLCanvasElement {
    if (this.#whole && this.#whole.width === scene.width && this.#whole.height === scene.height) return this.#whole;
    if (this.#wholeWidth !== scene.width) this.#ask(scene.width);
    const canvas = document.createElement("canvas");
    canvas.width = scene.width;
    canvas.height = scene.height;
    const context = canvas.getContext("2d", { alpha: false });
    if (context) paintWhole(context, scene, this.#inOrder());
    this.#whole = canvas;
    return canvas;
  }

  /** The tracks with a stripe. */
  #tracks(): readonly Track[] {
    return busiest(this.#timeline.overview.tracks, MAX_STRIPES);
  }

  #inOrder(): readonly TrackTiles[] {
    const allTiles = this.#tracks().map(({ track }) => this.#trackTiles.get(track));
    return allTiles.filter((trackTiles) => trackTiles !== undefined);
  }

  #ask(width: number): void {
    this.#wholeWidth = width;
    for (const { track } of this.#tracks()) this.#askTrack(this.#timeline.source, track, width);
  }

  #askTrack(source: Source, track: number, width: number): void {
    const { start, end } = this.#timeline.viewport.bounds;
    const colorBy = this.#timeline.colorBy.value;
    const by = ownerOf(colorBy);
    settle(
      () => source.query("tiles", { tracks: [track], start, end, pixels: width, ...(by && { by }) }),
      (tiles) => {
        // Its colours may be for a mode that has changed meanwhile.
        if (colorBy !== this.#timeline.colorBy.value) return;
        this.#trackTiles.set(track, new TrackTiles(track, tiles));
        if (!this.#whole) return;
        this.#whole = null;
        this.#timeline.stale.update((n) => n + 1);
      },
      (error) => {
        if (error instanceof Dropped) this.#askTrack(source, track, width);
        else this.#timeline.error.set(messageOf(error));
      },
    );
  }

  #listen<K extends keyof HTMLElementEventMap>(type: K, listener: (event: HTMLElementEventMap[K]) => void): void {
    this.#canvas.addEventListener(type, listener);
    this.#cleanup.add(() => this.#canvas.removeEventListener(type, listener));
  }

  #scale(): Scale {
    return scaleOf(this.#timeline.viewport.bounds, this.#canvas.clientWidth);
  }

  #x(event: MouseEvent): number {
    return event.clientX - this.#canvas.getBoundingClientRect().left;
  }

  #down(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.#canvas.setPointerCapture(event.pointerId);
    const x = this.#x(event);
    const window = this.#timeline.viewport.target;
    this.#drag = { grip: this.#gripAt(x), from: x, window };
  }

  #gripAt(x: number): Grip {
    const scale = this.#scale();
    const window = this.#timeline.viewport.window.value;
    const left = scale.x(window.start);
    const right = scale.x(window.end);
    const isWhole = lengthOf(window) >= lengthOf(this.#timeline.viewport.bounds) * 0.999;
    if (!isWhole && Math.abs(x - left) <= GRIP) return "start";
    if (!isWhole && Math.abs(x - right) <= GRIP) return "end";
    return !isWhole && x > left && x < right ? "whole" : "new";
  }

  #move(event: PointerEvent): void {
    const x = this.#x(event);
    const drag = this.#drag;
    if (!drag) {
      this.#canvas.style.cursor = { start: "ew-resize", end: "ew-resize", whole: "grab", new: "crosshair" }[
        this.#gripAt(x)
      ];
      return;
    }
    if (Math.abs(x - drag.from) < 2) return;
    this.#timeline.viewport.show(this.#dragged(drag.grip, drag.window, drag.from, x));
  }

  #dragged(grip: Grip, window: Span, from: number, x: number): Span {
    const scale = this.#scale();
    const by = (x - from) * scale.nsPerPixel;
    if (grip === "start") return span(Math.min(window.start + by, window.end), window.end);
    if (grip === "end") return span(window.start, Math.max(window.end + by, window.start));
    if (grip === "whole") return span(window.start + by, window.end + by);
    return span(scale.time(from), scale.time(x));
  }

  /** A click outside the frame moves the frame there. */
  #up(event: PointerEvent): void {
    const drag = this.#drag;
    this.#drag = null;
    if (drag?.grip !== "new" || Math.abs(this.#x(event) - drag.from) >= 2) return;
    const { viewport } = this.#timeline;
    const middle = (viewport.target.start + viewport.target.end) / 2;
    viewport.pan(this.#scale().time(drag.from) - middle, true);
  }
}
