import { render } from "preact";
import { Cell } from "../base/cell";
import { Cleanup } from "../base/cleanup";
import { formatPlural } from "../base/format";
import type { Theme } from "../base/palette";
import { type Span, span } from "../base/time";
import type { EventId, Overview, Setup } from "../source/protocol";
import type { Source } from "../source/source";
import { type Look, readLook } from "./look";
import type { Note } from "./notes";
import { cssHeaderHeight } from "./paint/scene";
import type { SavePage } from "./saving";
import { startingArrangement } from "./starting-arrangement";
import { Timeline } from "./timeline";
import { App } from "./ui/app";

// Toolbar, minimap and borders, as the style sheets have them, and a little air.
const CHROME_HEIGHT = 36 + 30 + 2 + 12;

/** What a host decides. */
export interface MountOptions {
  readonly theme: Cell<Theme>;
  /** What to call the trace; by its own name if empty. */
  readonly title?: string;
  /** What the host calls the trace where it has no name of its own. */
  readonly name?: string | undefined;
  /** The notes that were kept. */
  readonly notes?: readonly Note[];
  /** How the traces lie in the overview. */
  readonly setup?: Setup;
  readonly onSetup?: (setup: Setup) => void;
  readonly onSelect?: (id: EventId | null) => void;
  readonly onRange?: (range: Span | null, part: number | null) => void;
  /** Called when the first picture has been drawn. */
  readonly onDrawn?: () => void;
  /** Writes a copy of the page, where the host is one. */
  readonly savePage?: SavePage;
  /** Called with all notes whenever one is added, written or removed. */
  readonly onNotes?: (notes: readonly Note[]) => void;
}

/** A timeline on the screen, for its host. */
export interface MountedTimeline {
  /** CSS pixels in which everything could be seen without scrolling. */
  readonly naturalHeight: number;
  /** The stretch of time that is shown; null where it is all. */
  readonly view: Span | null;
  /** Selects an event and brings it onto the screen. */
  go(id: EventId): void;
  /** Shows a stretch of time. */
  show(start: number, end: number): void;
  /** Marks a stretch of time, of several traces for one of them. */
  mark(start: number, end: number, part?: number | null): void;
  /** Neither selects an event nor marks a range any longer. */
  leave(): void;
  /** Has the traces lie otherwise. */
  setUp(setup: Setup): void;
  /** Shows these notes instead of those that were there. */
  restoreNotes(notes: readonly Note[]): void;
  close(): void;
}

/** Puts a timeline into `root`, which lies where the style sheet applies. Closes `source` when it is closed. */
export function mountTimeline(
  root: HTMLElement,
  source: Source,
  overview: Overview,
  options: MountOptions,
): MountedTimeline {
  const cleanup = new Cleanup();
  const timeline = new Timeline(source, overview, options.setup);
  root.classList.add("ks-root");
  // A click on plain text must not hand the keys to the page.
  root.tabIndex = -1;
  const look = watchLook(root, options.theme, cleanup);
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
    show: (start, end) => timeline.viewport.show(span(start, end), true),
    mark: (start, end, part) => timeline.markOf(part ?? null, span(start, end)),
    leave: () => timeline.leave(),
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

function watchLook(root: HTMLElement, theme: Cell<Theme>, cleanup: Cleanup): Cell<Look> {
  const read = () => {
    root.setAttribute("data-theme", theme.value);
    return readLook(root, theme.value);
  };
  const look = new Cell(read());
  const update = () => look.set(read());
  cleanup.add(theme.subscribe(update));
  // A host may say that its theme is another one before its new colours are there. The style sheet has the ground change in a
  // transition, whose end tells that they are.
  const changed = (event: TransitionEvent) => event.target === root && update();
  for (const end of ["transitionend", "transitioncancel"] as const) {
    root.addEventListener(end, changed);
    cleanup.add(() => root.removeEventListener(end, changed));
  }
  return look;
}

/** Traces are often named by the path they were written to. */
export function nameOf({ title, device_names: devices, parts }: Overview, name?: string): string {
  if (parts.length > 1)
    return parts.every(({ name }) => name)
      ? parts.map(({ name }) => name).join(", ")
      : formatPlural(parts.length, "trace");
  if (/\.json(\.gz)?$/.test(title)) return title.split(/[\\/]/).at(-1) ?? title;
  return title || devices.find((device) => device) || parts[0]?.name || name || "Trace";
}

/** Tells the host what the reader chose, until `cleanup` is run. */
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
  // A range that is still being dragged is nobody's business: its summary comes when it stands.
  if (!onRange) return;
  cleanup.add(summary.subscribe(() => summary.value && onRange(marked.value, part.value)));
  cleanup.add(marked.subscribe(() => !marked.value && onRange(null, null)));
}
