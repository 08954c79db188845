import { render } from "preact";
import { Cell } from "../base/cell";
import { Cleanup } from "../base/cleanup";
import { formatPlural } from "../base/format";
import type { Theme } from "../base/palette";
import { type Span, span } from "../base/time";
import type { EventId, Overview, Setup } from "../source/protocol";
import type { Source } from "../source/source";
import type { OpenFlame } from "./flame";
import { type Look, readLook } from "./look";
import type { Note } from "./notes";
import { cssHeaderHeight } from "./paint/scene";
import type { SavePage } from "./saving";
import { startingArrangement } from "./starting-arrangement";
import { Timeline } from "./timeline";
import { App } from "./ui/app";

// Toolbar, minimap and borders as in the style sheets, with a margin.
const CHROME_HEIGHT = 36 + 30 + 2 + 12;

/** Options that a host sets. */
export interface MountOptions {
  readonly theme: Cell<Theme>;
  /** Title of the trace; empty for the trace's own. */
  readonly title?: string;
  /** The host's name for the trace, used where the trace has none. */
  readonly name?: string | undefined;
  /** Notes saved earlier. */
  readonly notes?: readonly Note[];
  /** Options of the screen that `overview` was requested with. */
  readonly setup?: Setup;
  readonly onSetup?: (setup: Setup) => void;
  readonly onSelect?: (id: EventId | null) => void;
  readonly onRange?: (range: Span | null, part: number | null) => void;
  /** Called after the first picture. */
  readonly onDrawn?: () => void;
  /** Saves a copy of the page; only a page has it. */
  readonly savePage?: SavePage;
  /** Called with all notes after each change. */
  readonly onNotes?: (notes: readonly Note[]) => void;
}

/** A mounted timeline, for its host. */
export interface MountedTimeline {
  /** Height in CSS pixels at which nothing needs to scroll. */
  readonly naturalHeight: number;
  /** The visible range; null for the whole trace. */
  readonly view: Span | null;
  /** Selects an event and scrolls to it. */
  go(id: EventId): void;
  /** Explains the idle time before an event, and scrolls to it. */
  explainBefore(id: EventId): void;
  /** Moves the focus to the timeline, so that its keys work. */
  focus(): void;
  /** Moves the focus to the search. */
  search(): void;
  /** Shows a range. */
  show(start: number, end: number): void;
  /** Marks a range; with several traces, for one of them. */
  mark(start: number, end: number, part?: number | null): void;
  /** Shows a flame graph in place of the tracks. */
  openFlame(flame: OpenFlame): void;
  /** Clears the selection and the marked range. */
  leave(): void;
  /** Changes the options of the screen. */
  setUp(setup: Setup): void;
  /** Replaces all notes. */
  restoreNotes(notes: readonly Note[]): void;
  close(): void;
}

/**
 * Mounts a timeline in `root`, inside the shadow root with its styles. Closing it closes `source`.
 */
export function mountTimeline(
  root: HTMLElement,
  source: Source,
  overview: Overview,
  options: MountOptions,
): MountedTimeline {
  const cleanup = new Cleanup();
  const timeline = new Timeline(source, overview, options.setup);
  root.classList.add("ks-root");
  // A click on plain text must not move the focus to the page.
  root.tabIndex = -1;
  const look = watchLook(root, timeline, options.theme, cleanup);
  watchWidth(root, timeline, cleanup);
  timeline.notes.restore(options.notes ?? []);
  timeline.placeNotes();
  tellHost(timeline, options, cleanup);
  cleanup.add(startingArrangement(timeline));
  const title = options.title || nameOf(overview, options.name);
  timeline.saving.title = title;
  timeline.saving.savePage = options.savePage ?? null;
  render(<App timeline={timeline} root={root} look={look} title={title} />, root);
  return {
    naturalHeight: CHROME_HEIGHT + cssHeaderHeight(timeline) + timeline.layout.value.scrolledHeight,
    get view() {
      return timeline.viewport.isWhole ? null : timeline.viewport.target;
    },
    go: (id) => timeline.go(id),
    explainBefore: (id) => timeline.visitGapBefore(id),
    focus: () => root.querySelector<HTMLElement>(".ks-stage")?.focus({ preventScroll: true }),
    search: () => root.querySelector<HTMLInputElement>(".ks-search input")?.select(),
    show: (start, end) => timeline.viewport.show(span(start, end), true),
    mark: (start, end, part) => timeline.markOf(part ?? null, span(start, end)),
    leave: () => timeline.leave(),
    openFlame: ({ about, options }) => timeline.flame.open(about, options),
    setUp: (setup) => timeline.setUp(setup),
    restoreNotes: (notes) => {
      timeline.notes.restore(notes);
      timeline.placeNotes();
    },
    close: () => {
      render(null, root);
      cleanup.run();
      timeline.close();
    },
  };
}

function watchLook(root: HTMLElement, { scheme }: Timeline, theme: Cell<Theme>, cleanup: Cleanup): Cell<Look> {
  const read = () => {
    root.setAttribute("data-theme", theme.value);
    return readLook(root, theme.value, scheme.value);
  };
  const look = new Cell(read());
  const update = () => look.set(read());
  cleanup.add(theme.subscribe(update));
  cleanup.add(scheme.subscribe(update));
  // A host may announce its theme before its colours change. The background changes in a
  // transition, whose end means that the colours are there.
  const changed = (event: TransitionEvent) => event.target === root && update();
  for (const end of ["transitionend", "transitioncancel"] as const) {
    root.addEventListener(end, changed);
    cleanup.add(() => root.removeEventListener(end, changed));
  }
  return look;
}

function watchWidth(root: HTMLElement, timeline: Timeline, cleanup: Cleanup): void {
  const measure = () => timeline.details.fitInto(root.clientWidth);
  const observer = new ResizeObserver(measure);
  observer.observe(root);
  cleanup.add(() => observer.disconnect());
  measure();
}

/** The title of a trace. Traces are often named by the path of their file. */
export function nameOf({ title, device_names: devices, parts }: Overview, name?: string): string {
  if (parts.length > 1)
    return parts.every(({ name }) => name)
      ? parts.map(({ name }) => name).join(", ")
      : formatPlural(parts.length, "trace");
  if (/\.json(\.gz)?$/.test(title)) return title.split(/[\\/]/).at(-1) ?? title;
  return title || devices.find((device) => device) || parts[0]?.name || name || "Trace";
}

/** Reports the reader's choices to the host until `cleanup` runs. */
export function tellHost(
  timeline: Timeline,
  { onSelect, onRange, onNotes, onSetup, onDrawn }: MountOptions,
  cleanup: Cleanup,
): void {
  if (onDrawn) cleanup.add(timeline.isDrawn.subscribe(onDrawn));
  const { all } = timeline.notes;
  if (onNotes) cleanup.add(all.subscribe(() => onNotes(all.value)));
  const { setup } = timeline;
  if (onSetup) cleanup.add(setup.subscribe(() => onSetup(setup.value)));
  const { current } = timeline.selection;
  if (onSelect) cleanup.add(current.subscribe(() => onSelect(current.value?.details.id ?? null)));
  const { summary, part, span: marked } = timeline.range;
  // The host needs no ranges that are still being dragged.
  if (!onRange) return;
  cleanup.add(summary.subscribe(() => summary.value && onRange(marked.value, part.value)));
  cleanup.add(marked.subscribe(() => !marked.value && onRange(null, null)));
}
