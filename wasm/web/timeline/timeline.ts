import { Cell } from "../base/cell";
import { Cleanup } from "../base/cleanup";
import { formatDuration, formatPlural } from "../base/format";
import { kept } from "../base/kept";
import type { ColorBy, Scheme } from "../base/palette";
import { scaleOf } from "../base/scale";
import { common, lengthOf, padded, type Span, span, type Time } from "../base/time";
import type { EventId, EventRef, Finding, Gap, Overview, Setup } from "../source/protocol";
import { isSameAlign, isSameSetup } from "../source/setup";
import { messageOf, type Source, settle } from "../source/source";
import { StagedSource } from "../source/staged";
import { Changes, isComparison, isJob } from "./changes";
import { Comparison } from "./comparison";
import { Counters } from "./counters";
import { CriticalPath } from "./critical-path";
import { Details } from "./details";
import { DeviceTime } from "./device-time";
import { Findings, titleOf } from "./findings";
import { Flame } from "./flame";
import { Gaps } from "./gaps";
import type { Layout } from "./layout";
import { Notes } from "./notes";
import { Range } from "./range";
import { type Row, rowsBetween } from "./row";
import { Saving } from "./saving";
import { Scroller } from "./scroller";
import { Search } from "./search";
import { type Selected, Selection } from "./selection";
import { TileCache } from "./tile-cache";
import { ownerOf } from "./tile-owner";
import { Tracks } from "./tracks";
import { Viewport } from "./viewport";
import { Waiting } from "./waiting";

/** The event under the pointer. */
export interface Hover extends EventRef {
  /** Number of events that the rectangle stands for. */
  readonly count: number;
  readonly x: number;
  readonly y: number;
}

export type Popover = "help" | "health" | "notes" | "findings" | "colors" | "save" | "commands";

// In CSS pixels: going to a narrower event zooms in.
const MIN_VISIBLE = 4;

/** State of the timeline. Draws nothing, and knows no elements. */
export class Timeline {
  readonly source: StagedSource;
  /** Options of the screen. */
  readonly setup: Cell<Setup>;
  readonly viewport: Viewport;
  readonly selection: Selection;
  readonly search: Search;
  readonly gaps: Gaps;
  readonly range: Range;
  readonly comparison = new Comparison();
  /** The whole trace, which the details beside the picture sum up while nothing is selected. */
  readonly whole: Range;
  readonly tiles: TileCache;
  readonly tracks: Tracks;
  readonly findings: Findings;
  readonly path: CriticalPath;
  readonly flame: Flame;
  readonly changes: Changes;
  readonly deviceTime: DeviceTime;
  readonly counters: Counters;
  readonly saving: Saving;
  readonly notes = new Notes();
  readonly colorBy = new Cell<ColorBy>("kind");
  readonly scheme = new Cell<Scheme>(kept("colors") === "okabe-ito" ? "okabe-ito" : "standard");
  readonly hover = new Cell<Hover | null>(null);
  readonly details = new Details();
  /** Width of the track names in CSS pixels; null for the style sheet's. */
  readonly gutterWidth = new Cell<number | null>(null);
  readonly popover = new Cell<Popover | null>(null);
  readonly error = new Cell<string | null>(null);
  /** Messages for screen readers. */
  readonly said = new Cell("");
  /** Counts up when the picture is out of date for a reason that no other cell reports. */
  readonly stale = new Cell(0);
  /** The pointer's position in CSS pixels from the left of the picture; null outside. */
  readonly pointer = new Cell<number | null>(null);
  /** Size of the tracks on the screen, in CSS pixels. */
  readonly size = new Cell({ width: 0, height: 0 });
  /** Whether a picture has been drawn. */
  readonly isDrawn = new Cell(false);
  readonly waiting: Waiting;
  readonly #scroller: Scroller;
  readonly #cleanup = new Cleanup();
  #overview: Overview;
  /** The latest requested options; their answer may be pending. */
  #wanted: Setup;

  /** `overview` is the answer of `source` for `setup`. */
  constructor(asked: Source, overview: Overview, setup: Setup = {}) {
    const failed = (error: unknown) => this.error.set(messageOf(error));
    const arrived = () => this.stale.update((n) => n + 1);
    const source = new StagedSource(asked, setup);
    this.source = source;
    this.setup = new Cell(setup);
    this.#wanted = setup;
    this.#overview = overview;
    this.viewport = new Viewport(overview.duration);
    if (overview.trimmed) this.viewport.show(overview.trimmed);
    this.selection = new Selection(source, failed);
    this.search = new Search(source, failed);
    this.gaps = new Gaps(source, failed);
    this.range = new Range(source, failed);
    this.whole = new Range(source, failed);
    this.tiles = new TileCache(source, arrived, failed);
    this.waiting = new Waiting(arrived, (text) => this.said.set(text));
    this.#cleanup.add(() => this.waiting.close());
    this.#cleanup.add(() => this.search.clear());
    this.findings = new Findings(source, failed);
    this.path = new CriticalPath(source, isJob(overview), failed);
    this.flame = new Flame(source, failed, (text) => this.said.set(text));
    this.saving = new Saving(
      source,
      () => this.overview,
      () => this.notes.all.value,
    );
    this.changes = new Changes(source, failed);
    this.deviceTime = new DeviceTime(source, failed);
    this.#cleanup.add(this.colorBy.subscribe(() => this.tiles.tellOwner(ownerOf(this.colorBy.value))));
    this.tracks = new Tracks(
      () => this.overview,
      (text) => this.said.set(text),
    );
    this.#scroller = new Scroller(this.tracks, this.viewport, this.size);
    this.counters = new Counters(source, arrived, failed);
    this.#cleanup.add(this.counters.shown.subscribe(() => this.#showCounters()));
    this.#cleanup.add(this.layout.subscribe(() => this.#scroller.limit()));
    this.#cleanup.add(this.size.subscribe(() => this.#resized()));
  }

  /** Gives counters their rows. Scrolls to the first where none is visible. */
  #showCounters(): void {
    this.tracks.showCounters(this.counters.shown.value);
    const [first] = this.layout.value.scrolled.filter(({ kind }) => kind === "counter");
    if (first && !this.shownRows.some(({ kind }) => kind === "counter")) this.viewport.scrollTo(first.top, true);
  }

  close(): void {
    this.#cleanup.run();
    this.source.close();
  }

  get overview(): Overview {
    return this.#overview;
  }

  /** Changes options of the screen, then requests everything again. */
  setUp(change: Setup, then?: () => void): void {
    const setup = { ...this.#wanted, ...change };
    if (isSameSetup(setup, this.#wanted)) return;
    this.#wanted = setup;
    settle(
      () => this.source.query("overview", setup),
      (overview) => {
        if (setup !== this.#wanted) return;
        this.#renew(setup, overview);
        then?.();
      },
      (error) => {
        if (setup === this.#wanted) this.#wanted = this.setup.value;
        this.error.set(messageOf(error));
      },
    );
  }

  #renew(setup: Setup, overview: Overview): void {
    const isMoved = !isSameAlign(setup.align, this.setup.value.align);
    this.source.setup = setup;
    this.#overview = overview;
    this.tiles.forget();
    this.hover.set(null);
    if (isMoved) {
      this.viewport.rebound(overview.duration);
      if (this.range.span.value) this.unmark();
      if (this.gaps.current.value) this.closeGap();
      this.notes.passing.set(null);
    }
    this.tracks.renew();
    for (const part of [this.search, this.findings, this.path, this.counters, this.flame]) part.renew();
    const selected = this.selection.current.value;
    if (selected) {
      this.selection.select(selected.details.id, ({ details }) => {
        if (!details.is_shown) this.#deselect();
        else if (isMoved) this.reveal(details);
      });
    }
    if (isMoved) this.placeNotes();
    this.setup.set(setup);
    this.stale.update((n) => n + 1);
  }

  /** Moves notes about events to the events' current positions. */
  placeNotes(): void {
    for (const id of this.notes.events) {
      settle(
        () => this.source.query("event", { id }),
        ({ start, dur }) => this.notes.move(id, start, start + dur),
        () => {},
      );
    }
  }

  /** Shows or hides Python functions. */
  toggleFrames(): void {
    if (this.overview.num_frames === 0) return;
    const frames = this.#wanted.frames === false;
    this.setUp({ frames }, () => this.said.set(frames ? "Python functions are shown" : "Python functions are hidden"));
  }

  get layout(): Cell<Layout> {
    return this.tracks.layout;
  }

  /** Rows on the screen. */
  get shownRows(): readonly Row[] {
    const { pinned, pinnedHeight, scrolled } = this.layout.value;
    const scroll = this.viewport.scroll.value;
    return [...pinned, ...rowsBetween(scrolled, scroll, scroll + this.size.value.height - pinnedHeight)];
  }

  /** Reports how long the picture has been waiting for tiles. */
  tellWaiting(): void {
    const tracks = this.shownRows.flatMap((row) => row.tracks);
    this.waiting.tell(tracks.flatMap(({ track }) => this.tiles.holes(track).map(({ waited }) => waited)));
  }

  get pointerTime(): Time | null {
    const x = this.pointer.value;
    return x === null ? null : scaleOf(this.viewport.window.value, this.size.value.width).time(x);
  }

  select(id: EventId, then?: (selected: Selected) => void): void {
    this.selection.look(id, (selected) => {
      // A hidden Python function has to be shown first.
      if (!selected.details.is_shown) return this.setUp({ frames: true }, () => this.select(id, then));
      this.selection.current.set(selected);
      const { name, kind, start, dur } = selected.details;
      this.details.open.set("event");
      this.said.set(`${name}, ${kind}, ${formatDuration(dur)} at ${formatDuration(start)}`);
      then?.(selected);
    });
  }

  /** Selects an event and scrolls to it. */
  visit(event: EventRef | null): void {
    if (event) this.select(event.id, ({ details }) => this.reveal(details));
  }

  /** Like `visit`, for an event known by its id. Zooms in where it would be too narrow to see. */
  go(id: EventId): void {
    this.select(id, ({ details }) => {
      const perPixel = lengthOf(this.viewport.target) / Math.max(1, this.size.value.width);
      if (details.dur < MIN_VISIBLE * perPixel) this.showEvent(details, 20);
      this.reveal(details);
    });
  }

  /** Requests overlays of the tracks; the picture does not wait for them. */
  askMarks(): void {
    this.findings.ask();
    if (this.overview.parts.length > 1) this.deviceTime.ask();
    if (isComparison(this.overview)) this.changes.ask();
  }

  /** Shows a finding and its costliest event. */
  visitFinding(finding: Finding): void {
    const [event] = finding.evidence;
    if (event) this.visitEvidence(finding, event);
    else this.#openFinding(finding);
  }

  visitEvidence(finding: Finding, event: EventRef): void {
    this.select(event.id, ({ details }) => {
      this.#openFinding(finding);
      this.reveal(details);
    });
  }

  #openFinding(finding: Finding): void {
    this.findings.current.set(finding);
    this.details.open.set("finding");
    this.said.set(`${titleOf(finding)}: ${formatDuration(finding.cost_ns)}`);
  }

  stepFinding(by: 1 | -1): void {
    const finding = this.findings.beside(by);
    if (finding) this.visitFinding(finding);
  }

  /** The display name of a trace. */
  partName(part: number): string {
    const group = this.overview.groups.find((g) => g.kind === "trace" && g.part === part);
    return group?.name ?? this.overview.parts[part]?.name ?? "";
  }

  /** Scrolls to a trace. */
  showPart(part: number): void {
    const row = this.layout.value.scrolled.find(({ kind, group }) => kind === "group" && group.part === part);
    if (row) this.viewport.scrollTo(row.top, true);
  }

  clear(): void {
    if (this.popover.value) this.popover.set(null);
    else if (this.error.value) this.error.set(null);
    else if (this.gaps.current.value) this.closeGap();
    else if (this.selection.current.value) this.#deselect();
    else if (this.comparison.base.value) this.endComparison();
    else if (this.range.span.value) this.unmark();
    else if (this.notes.passing.value) this.notes.passing.set(null);
    else if (this.notes.current.value) this.notes.current.set(null);
    else this.search.clear();
  }

  #deselect(): void {
    this.selection.clear();
    this.details.open.set(this.range.span.value ? "range" : null);
    this.said.set("Selection cleared");
  }

  /** Clears the selection and the range. */
  leave(): void {
    this.selection.clear();
    this.unmark();
  }

  unmark(): void {
    this.comparison.clear();
    this.range.clear();
    this.details.open.set(this.selection.current.value ? "event" : null);
  }

  /** With several traces, summarizes `part`, by default the previous one. */
  mark(wanted: Span, settled: boolean, part = this.range.part.value): void {
    // Time before and after the recording would count as idle.
    const marked = common(wanted, span(0, this.overview.duration));
    this.comparison.clear();
    this.range.mark(marked);
    if (!settled) return;
    this.range.part.set(part);
    this.details.open.set("range");
    this.range.sumUp();
    this.said.set(`Range of ${formatDuration(lengthOf(marked))} at ${formatDuration(marked.start)}`);
  }

  endComparison(): void {
    this.comparison.clear();
    this.details.open.set("range");
  }

  /** Lists the hits of the search. */
  listHits(): void {
    if (this.search.found.value) this.details.open.set("hits");
  }

  /** Marks a range for one of several traces, and goes there. */
  markOf(part: number | null, wanted: Span): void {
    const isThere = part !== null && part < this.overview.parts.length;
    this.range.asked.set(isThere ? part : null);
    this.mark(wanted, true, isThere ? part : undefined);
    if (isThere) this.showPart(part);
  }

  /** Explains the idle time of a stream at `time`, if it was idle. */
  explain(track: number, time: number, then?: (gap: Gap) => void): void {
    this.gaps.ask(track, time, (gap) => {
      then?.(gap);
      this.details.open.set("gap");
      this.said.set(`Idle for ${formatDuration(gap.dur)}: ${gap.why}`);
    });
  }

  /** Explains the idle time before the selected event. */
  explainBefore(): void {
    const event = this.selection.current.value?.details;
    if (event?.idle_before) this.explain(event.track, event.idle_before.start);
    else this.said.set("No idle time before this event");
  }

  /** Explains the idle time before an event, and goes there. */
  visitGapBefore(id: EventId): void {
    this.selection.look(id, ({ details: { track, idle_before: idle } }) => {
      if (!idle) return this.said.set("No idle time before this event");
      this.explain(track, idle.start, (gap) => {
        this.selection.clear();
        this.showGap(gap);
      });
    });
  }

  closeGap(): void {
    this.gaps.clear();
    if (this.details.open.value === "gap") this.details.open.set(this.selection.current.value ? "event" : null);
  }

  showGap(gap: Gap): void {
    const { start, dur, track } = gap;
    this.viewport.show(padded(span(start, start + dur), dur / 8), true);
    this.tracks.uncover(track);
    this.#scrollToGap(gap);
  }

  /** The idle time in the details, else the selected event. */
  get detailed(): {
    readonly start: Time;
    readonly dur: number;
    readonly part: number;
    readonly id: EventId | null;
  } | null {
    const gap = this.details.open.value === "gap" && this.gaps.current.value;
    return gap ? { ...gap, id: null } : (this.selection.current.value?.details ?? null);
  }

  /** Chooses the next link from the selection, or to it, and shows its other end. */
  chooseLink(forward: boolean): void {
    if (!this.selection.current.value) return;
    const [at, count] = this.selection.choose(forward);
    const partner = this.selection.partner(forward);
    const which = forward ? "outgoing" : "incoming";
    this.said.set(partner ? `Arrow ${at + 1} of ${count}, ${which}: ${partner.label}` : `No ${which} arrow`);
  }

  /** Opens or closes a list. */
  togglePopover(name: Popover): void {
    this.popover.update((open) => (open === name ? null : name));
  }

  /** Opens the export list. */
  askToSave(): void {
    this.saving.said.set("");
    this.popover.set("save");
  }

  /** Closes the details, or opens them for the selection, the range, a finding or the trace. */
  toggleDetails(): void {
    const range = this.range.span.value && "range";
    const finding = this.findings.current.value && "finding";
    const gap = this.gaps.current.value && "gap";
    const hits = this.search.found.value && "hits";
    const wanted = gap ?? (this.selection.current.value ? "event" : (range ?? finding ?? hits));
    this.details.toggle(wanted ?? "trace");
  }

  step(by: 1 | -1): void {
    this.search.step(by, this.viewport.target.start, (id) => this.select(id, ({ details }) => this.reveal(details)));
  }

  /** Searches for `text`, and calls `then` when hits arrive. */
  find(text: string, then?: () => void): void {
    this.search.ask(text, (hits) => {
      this.said.set(`${formatPlural(hits.count, "hit")} for ${text}`);
      then?.();
    });
  }

  /** Moves the window so that `event` fills 1/`room` of it. */
  showEvent(event: EventRef, room = 1.25): void {
    const length = Math.max(1, event.dur);
    this.viewport.show(padded(span(event.start, event.start + length), (length * (room - 1)) / 2), true);
  }

  /** Scrolls to an event. Zooms out only where it is longer than the screen. */
  reveal(event: EventRef): void {
    const { target } = this.viewport;
    const end = event.start + event.dur;
    const length = lengthOf(target);
    if (event.dur > length) this.showEvent(event);
    else if (event.start < target.start || end > target.end) {
      this.viewport.pan((event.start + end) / 2 - (target.start + target.end) / 2, true);
    }
    this.tracks.uncover(event.track);
    this.#scrollTo(event);
  }

  #scrollTo(event: EventRef): void {
    this.#scroller.scrollTo(event, this.selection.partner(event.kind === "launch"));
  }

  #scrollToGap({ track: of }: Gap): void {
    const track = this.overview.tracks.find(({ track }) => track === of);
    if (track) this.#scroller.scrollToTrack(track);
  }

  /** Keeps the selected event visible when the details open. */
  #resized(): void {
    this.tracks.fitInto(this.size.value.height);
    this.#scroller.limit();
    const event = this.selection.current.value?.details;
    const gap = this.gaps.current.value;
    if (event) this.#scroller.keep(event);
    else if (gap) this.#scrollToGap(gap);
  }
}
