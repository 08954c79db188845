import { formatDuration } from "../../base/format";
import { COLOR_BY } from "../../base/palette";
import { lengthOf, type Span, span } from "../../base/time";
import type { Direction } from "../../source/protocol";
import { toggleFlame } from "../flame-links";
import { firstOnScreen } from "../hit-test";
import { subjectOf, takeNote } from "../noting";
import type { Timeline } from "../timeline";
import type { Command } from "./keymap";

const ZOOM = 1.35;
const PAN = 0.12;
const SCROLL = 54;

/** Elements around the timeline that commands need. */
export interface Surroundings {
  readonly focusSearch: () => void;
  readonly focusFilter: () => void;
  readonly toggleFullScreen: () => void;
}

type RunCommand = (timeline: Timeline, around: Surroundings) => void;

export const COMMANDS: Readonly<Record<Command, RunCommand>> = {
  zoomIn: (t) => zoom(t, 1 / ZOOM),
  zoomOut: (t) => zoom(t, ZOOM),
  panLeft: (t) => pan(t, -PAN),
  panRight: (t) => pan(t, PAN),
  scrollUp: (t) => t.viewport.scrollBy(-SCROLL),
  scrollDown: (t) => t.viewport.scrollBy(SCROLL),
  fitAll: (t) => t.viewport.show(t.viewport.bounds, true),
  focus,
  next: (t) => step(t, "next"),
  previous: (t) => step(t, "previous"),
  parent: (t) => step(t, "parent"),
  child: (t) => step(t, "child"),
  followForward: (t) => t.visit(t.selection.partner(true)),
  followBack: (t) => t.visit(t.selection.partner(false)),
  chooseForward: (t) => t.chooseLink(true),
  chooseBack: (t) => t.chooseLink(false),
  markAll: (t) => t.mark(span(0, t.overview.duration), true),
  markSelection,
  saveCopy: (t) => t.askToSave(),
  toggleFrames: (t) => t.toggleFrames(),
  commands: (t) => t.togglePopover("commands"),
  measure,
  keepMark: (t) => t.notes.add({ ...subjectOf(t), text: "" }),
  takeNote,
  removeNote,
  explainIdle: (t) => t.explainBefore(),
  toggleDetails: (t) => t.toggleDetails(),
  listHits: (t) => t.listHits(),
  search: (_, around) => around.focusSearch(),
  filterTracks: (_, around) => around.focusFilter(),
  nextHit: (t) => t.step(1),
  previousHit: (t) => t.step(-1),
  toggleColors: (t) => t.colorBy.update((by) => COLOR_BY[(COLOR_BY.indexOf(by) + 1) % COLOR_BY.length] ?? "kind"),
  togglePath: (t) => t.path.isOn.update((on) => !on),
  toggleFlame,
  toggleCounters: (t) => t.counters.toggle(),
  nextFinding: (t) => t.stepFinding(1),
  previousFinding: (t) => t.stepFinding(-1),
  toggleTraces: (t) => t.tracks.toggleTraces(),
  togglePin,
  foldAll: (t) => t.tracks.foldAll(true),
  unfoldAll: (t) => t.tracks.foldAll(false),
  toggleFullScreen: (_, around) => around.toggleFullScreen(),
  help: (t) => t.togglePopover("help"),
  clear: (t) => t.clear(),
};

/** Zooms around the pointer where it is on the timeline, else around the middle. */
function zoom(timeline: Timeline, factor: number): void {
  const { target } = timeline.viewport;
  timeline.viewport.zoom(factor, timeline.pointerTime ?? (target.start + target.end) / 2, true);
}

function pan(timeline: Timeline, share: number): void {
  timeline.viewport.pan(lengthOf(timeline.viewport.target) * share, true);
}

/**
 * Moves the selection. Without one, selects the first visible event, for readers without a mouse.
 */
function step(timeline: Timeline, direction: Direction): void {
  if (timeline.selection.current.value) timeline.selection.neighbour(direction, (event) => timeline.visit(event));
  else timeline.visit(firstOnScreen(timeline));
}

/** Shows the selected event, else the marked range, else the whole trace. */
function focus(timeline: Timeline): void {
  const gap = timeline.details.open.value === "gap" && timeline.gaps.current.value;
  if (gap) {
    timeline.showGap(gap);
    return;
  }
  const event = timeline.selection.current.value?.details;
  if (!event) {
    timeline.viewport.show(timeline.range.span.value ?? timeline.viewport.bounds, true);
    return;
  }
  const before = timeline.viewport.target;
  timeline.viewport.pan(event.start + event.dur / 2 - (before.start + before.end) / 2, true);
  if (isNear(before, timeline.viewport.target)) timeline.showEvent(event);
  timeline.reveal(event);
}

const isNear = (a: Span, b: Span): boolean => Math.abs(a.start - b.start) < lengthOf(a) * 0.01;

function markSelection(timeline: Timeline): void {
  const { detailed } = timeline;
  if (detailed) timeline.mark(span(detailed.start, detailed.start + detailed.dur), true, detailed.part);
}

function measure(timeline: Timeline): void {
  const { start, end } = subjectOf(timeline);
  if (end === start) return;
  timeline.notes.passing.set(span(start, end));
  timeline.said.set(`${formatDuration(end - start)} at ${formatDuration(start)}`);
}

/** Pins the track of the selected event or idle time, or releases it. */
function togglePin(timeline: Timeline): void {
  const gap = timeline.details.open.value === "gap" && timeline.gaps.current.value;
  const track = gap ? gap.track : timeline.selection.current.value?.details.track;
  if (track === undefined) {
    timeline.said.set("Select an event of the track to pin");
    return;
  }
  timeline.tracks.togglePin(track);
}

function removeNote(timeline: Timeline): void {
  const note = timeline.notes.current.value;
  if (!note) return;
  timeline.notes.remove(note);
  timeline.said.set("Note removed");
}
