import { Cleanup } from "../../base/cleanup";
import { scaleOf } from "../../base/scale";
import { asTime, lengthOf, type Span, span } from "../../base/time";
import type { Counter } from "../../source/protocol";
import { baseOf, markBeside, markIteration } from "../comparing";
import type { FindingGroup } from "../findings";
import { eventAt, type Place, rowAt, streamAt } from "../hit-test";
import { noteAt } from "../paint/notes";
import type { Pill } from "../paint/pill";
import { cssFindingsTop, cssHeaderHeight, cssIterationsTop, RULER_HEIGHT } from "../paint/scene";
import { snapped } from "../snap";
import type { Timeline } from "../timeline";
import { Pinch } from "./pinch";
import { turnWheel } from "./wheel";

const CLICK_PIXELS = 4;
// Distance at which an edge of the marked range can be dragged, in CSS pixels.
const GRIP = 5;

type Drag =
  | { readonly kind: "pan"; readonly from: Place; readonly window: Span; readonly scroll: number }
  | {
      readonly kind: "range";
      readonly from: Place;
      readonly time: number;
      /** The range to compare it with, if it is a second one. */
      readonly base: Span | null;
    };

/** Positions on the canvas that the pointer needs. */
export interface Screen {
  readonly canvas: HTMLElement;
  readonly pills: () => readonly Pill[];
  /** Whether the wheel is the timeline's. */
  readonly isUsed: () => boolean;
}

/** Handles mouse, pen and fingers on the picture. */
export class Pointer {
  readonly #timeline: Timeline;
  readonly #screen: Screen;
  readonly #cleanup = new Cleanup();
  readonly #pinch: Pinch;
  #drag: Drag | null = null;
  #moved = false;
  /** Where the pointer rested while its wheel turned. */
  #resting: Place | null = null;
  /** State of the picture at the last hit test. */
  #seen: readonly unknown[] = [];

  constructor(timeline: Timeline, screen: Screen) {
    this.#timeline = timeline;
    this.#screen = screen;
    this.#pinch = new Pinch(timeline);
    this.#listen("pointerdown", (event) => this.#down(event));
    this.#listen("pointermove", (event) => this.#move(event));
    this.#listen("pointerup", (event) => this.#up(event));
    this.#listen("pointercancel", (event) => this.#cancel(event));
    this.#listen("pointerleave", () => this.#leave());
    this.#listen("dblclick", (event) => this.#double(event));
    this.#listen("wheel", (event) => this.#wheel(event));
  }

  close(): void {
    this.#cleanup.run();
  }

  #listen<K extends keyof HTMLElementEventMap>(type: K, listener: (event: HTMLElementEventMap[K]) => void): void {
    const { canvas } = this.#screen;
    canvas.addEventListener(type, listener, { passive: false });
    this.#cleanup.add(() => canvas.removeEventListener(type, listener));
  }

  #place(event: MouseEvent): Place {
    const { left, top } = this.#screen.canvas.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  }

  /** Converts `place` to the top of the tracks. */
  #onTracks({ x, y }: Place): Place {
    return { x, y: y - cssHeaderHeight(this.#timeline) };
  }

  #timeAt(x: number): number {
    const window = this.#timeline.viewport.window.value;
    return window.start + (x / Math.max(1, this.#timeline.size.value.width)) * lengthOf(window);
  }

  #down(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.#screen.canvas.setPointerCapture(event.pointerId);
    const place = this.#place(event);
    if (this.#pinch.down(event.pointerId, place)) {
      this.#drag = null;
      return;
    }
    this.#moved = false;
    const { viewport } = this.#timeline;
    const base = event.altKey ? baseOf(this.#timeline) : null;
    const marks = event.altKey || event.shiftKey || place.y < RULER_HEIGHT;
    const edge = event.altKey ? null : this.#otherEdge(place);
    this.#drag = marks
      ? { kind: "range", from: place, time: edge ?? this.#edgeAt(event), base }
      : { kind: "pan", from: place, window: viewport.window.value, scroll: viewport.scroll.value };
  }

  /** The time of a range's edge: it snaps to events nearby, except with Ctrl or ⌘. */
  #edgeAt(event: MouseEvent): number {
    const place = this.#place(event);
    return event.ctrlKey || event.metaKey
      ? this.#timeAt(place.x)
      : snapped(this.#timeline, place.x, this.#onTracks(place).y);
  }

  /** The opposite edge of the marked range, where `place` is on one of its edges. */
  #otherEdge({ x, y }: Place): number | null {
    const range = this.#timeline.range.span.value;
    if (!range || y >= RULER_HEIGHT) return null;
    const { viewport, size } = this.#timeline;
    const scale = scaleOf(viewport.window.value, size.value.width);
    if (Math.abs(scale.x(range.start) - x) <= GRIP) return range.end;
    return Math.abs(scale.x(range.end) - x) <= GRIP ? range.start : null;
  }

  #move(event: PointerEvent): void {
    const place = this.#place(event);
    this.#resting = null;
    if (this.#pinch.move(event.pointerId, place)) return;
    if (this.#drag) this.#dragTo(this.#drag, event);
    else this.#hover(place);
    this.#timeline.pointer.set(place.x);
  }

  /** Repeats the hit test after a frame: another event may lie under a resting pointer. */
  drawn(): void {
    if (this.#view().every((value, at) => value === this.#seen[at])) return;
    if (this.#resting) this.#hover(this.#resting);
    else this.#forget();
  }

  #view(): readonly unknown[] {
    const { viewport, layout } = this.#timeline;
    return [viewport.window.value, viewport.scroll.value, layout.value];
  }

  /** Clears the hover. */
  #forget(): void {
    this.#seen = this.#view();
    this.#timeline.hover.set(null);
    this.#timeline.findings.hover.set(null);
  }

  #hover(place: Place): void {
    this.#seen = this.#view();
    const onTracks = this.#onTracks(place);
    const hover = onTracks.y < 0 ? null : eventAt(this.#timeline, onTracks);
    this.#timeline.hover.set(hover && { ...hover, x: place.x, y: place.y });
    const group = this.#findingsAt(place);
    this.#timeline.findings.hover.set(group && { ...group, x: place.x, y: place.y });
    this.#screen.canvas.style.cursor = this.#cursor(place, hover !== null);
  }

  #cursor(place: Place, onEvent: boolean): string {
    if (place.y < RULER_HEIGHT) return this.#otherEdge(place) === null ? "col-resize" : "ew-resize";
    const note = noteAt(this.#timeline, place.x, place.y);
    const found = this.#timeline.findings.hover.value;
    if (onEvent || note || found || this.#pillAt(place)) return "pointer";
    return streamAt(this.#timeline, this.#onTracks(place)) === null ? "default" : "help";
  }

  #dragTo(drag: Drag, event: MouseEvent): void {
    const place = this.#place(event);
    if (!this.#moved && distance(drag.from, place) < CLICK_PIXELS) return;
    this.#moved = true;
    const timeline = this.#timeline;
    timeline.hover.set(null);
    if (drag.kind === "range") {
      this.#mark(drag, event, false);
      return;
    }
    this.#screen.canvas.style.cursor = "grabbing";
    const perPixel = lengthOf(drag.window) / Math.max(1, timeline.size.value.width);
    const shift = (drag.from.x - place.x) * perPixel;
    timeline.viewport.show(span(drag.window.start + shift, drag.window.end + shift));
    timeline.viewport.scrollTo(drag.scroll + drag.from.y - place.y);
  }

  #up(event: PointerEvent): void {
    this.#pinch.up(event.pointerId);
    const drag = this.#drag;
    this.#drag = null;
    if (!drag) return;
    const place = this.#place(event);
    if (!this.#moved) this.#click(place);
    else if (drag.kind === "range") {
      this.#mark(drag, event, true);
    }
    this.#screen.canvas.style.cursor = "default";
  }

  #mark({ from, time, base }: Drag & { kind: "range" }, event: MouseEvent, settled: boolean): void {
    const timeline = this.#timeline;
    const marked = span(time, this.#edgeAt(event));
    const part = rowAt(timeline, this.#onTracks(from).y)?.group.part;
    if (base) markBeside(timeline, base, marked, settled, part);
    else timeline.mark(marked, settled, part);
  }

  #cancel(event: PointerEvent): void {
    this.#pinch.up(event.pointerId);
    this.#drag = null;
  }

  #leave(): void {
    if (this.#drag) return;
    this.#resting = null;
    this.#forget();
    this.#timeline.pointer.set(null);
  }

  #click(place: Place): void {
    const pill = this.#pillAt(place);
    if (pill) {
      this.#timeline.visit(pill.event);
      return;
    }
    const onTracks = this.#onTracks(place);
    if (onTracks.y < 0) this.#clickHeader(place);
    else this.#clickTracks(onTracks);
  }

  #clickHeader(place: Place): void {
    if (place.y < RULER_HEIGHT) return;
    if (place.y < cssFindingsTop(this.#timeline)) {
      this.#clickNote(place);
      return;
    }
    if (place.y < cssIterationsTop(this.#timeline)) {
      this.#clickFinding(place);
      return;
    }
    const time = this.#timeAt(place.x);
    const iteration = this.#timeline.overview.iterations.find((i) => i.start <= time && time < i.start + i.dur);
    if (iteration) markIteration(this.#timeline, iteration);
  }

  #findingsAt({ x, y }: Place): FindingGroup | null {
    const timeline = this.#timeline;
    if (y < cssFindingsTop(timeline) || y >= cssIterationsTop(timeline)) return null;
    return timeline.findings.groupAt(scaleOf(timeline.viewport.window.value, timeline.size.value.width), x);
  }

  /** Repeated clicks go through findings that share a marker. */
  #clickFinding(place: Place): void {
    const group = this.#findingsAt(place);
    if (!group) return;
    const { current } = this.#timeline.findings;
    const at = current.value ? group.findings.indexOf(current.value) + 1 : 0;
    const finding = group.findings[at % group.findings.length];
    if (finding) this.#timeline.visitFinding(finding);
  }

  #clickNote({ x, y }: Place): void {
    const note = noteAt(this.#timeline, x, y);
    if (!note) return;
    this.#timeline.notes.current.set(note);
    this.#timeline.popover.set("notes");
  }

  #clickTracks(place: Place): void {
    const { counter } = rowAt(this.#timeline, place.y) ?? {};
    const hover = eventAt(this.#timeline, place);
    if (counter) this.#clickCounter(counter, place);
    else if (hover) this.#timeline.select(hover.id);
    else this.#clickIdle(place);
  }

  #clickCounter(counter: Counter, { x }: Place): void {
    const { counters, details, viewport, size } = this.#timeline;
    counters.click(counter, asTime(this.#timeAt(x)), viewport.window.value, size.value.width);
    details.open.set("counter");
  }

  /** Selects the idle time under the pointer. */
  #clickIdle(place: Place): void {
    const stream = streamAt(this.#timeline, place);
    if (stream === null) return;
    this.#timeline.explain(stream, this.#timeAt(place.x), () => this.#timeline.selection.clear());
  }

  #double(event: MouseEvent): void {
    event.preventDefault();
    const place = this.#place(event);
    const range = this.#timeline.range.span.value;
    const onTracks = this.#onTracks(place);
    if (onTracks.y < 0) {
      if (range) this.#timeline.viewport.show(range, true);
      return;
    }
    const hover = eventAt(this.#timeline, onTracks);
    if (hover) this.#timeline.showEvent(hover);
  }

  #pillAt({ x, y }: Place): Pill | undefined {
    const dpr = window.devicePixelRatio;
    const inside = (pill: Pill) =>
      x * dpr >= pill.x && x * dpr <= pill.x + pill.width && y * dpr >= pill.y && y * dpr <= pill.y + pill.height;
    return this.#screen.pills().find(inside);
  }

  #wheel(event: WheelEvent): void {
    const { x, y } = this.#place(event);
    const onHeader = y < cssHeaderHeight(this.#timeline);
    if (!turnWheel(this.#timeline, event, { x, onHeader, isUsed: this.#screen.isUsed() })) return;
    event.preventDefault();
    event.stopPropagation();
    this.#resting = { x, y };
  }
}

const distance = (a: Place, b: Place): number => Math.hypot(a.x - b.x, a.y - b.y);
