import type { Row } from "../row";
import type { Timeline } from "../timeline";

/**
 * Keys of a row: up and down change the row, with Alt they move it; left and right fold and unfold.
 */
export function rowKeys(event: KeyboardEvent, timeline: Timeline, gutter: HTMLElement | null): void {
  const { pinned, scrolled } = timeline.layout.value;
  const rows = [...pinned, ...scrolled];
  const key = (event.target as HTMLElement).closest("[data-row]")?.getAttribute("data-row");
  const at = rows.findIndex((row) => row.key === key);
  const row = rows[at];
  if (!row || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (!act(event, timeline, row, at, rows)) return;
  event.preventDefault();
  event.stopPropagation();
  const next = event.key === "ArrowUp" ? rows[at - 1] : rows[at + 1];
  const wanted = !event.altKey && next && /Up|Down/.test(event.key) ? next : row;
  focusRow(timeline, gutter, wanted.key);
}

function act(event: KeyboardEvent, timeline: Timeline, row: Row, at: number, rows: readonly Row[]): boolean {
  const { key, altKey } = event;
  if (key === "ArrowUp" || key === "ArrowDown") {
    const by = key === "ArrowUp" ? -1 : 1;
    if (altKey) timeline.tracks.move(row, by);
    return altKey || rows[at + by] !== undefined;
  }
  if (altKey || (key !== "ArrowLeft" && key !== "ArrowRight")) return false;
  timeline.tracks.fold(row, key === "ArrowLeft");
  return true;
}

/** Scrolls to a row, and moves the focus to it once it is drawn. */
export function focusRow(timeline: Timeline, gutter: HTMLElement | null, key: string): void {
  const { scrolled, pinnedHeight } = timeline.layout.value;
  const row = scrolled.find((r) => r.key === key);
  const { scroll } = timeline.viewport;
  const room = timeline.size.value.height - pinnedHeight;
  if (row && (row.top < scroll.value || row.top + 24 > scroll.value + room)) {
    timeline.viewport.scrollTo(row.top - room / 3);
  }
  const focus = () =>
    gutter?.querySelector<HTMLElement>(`[data-row="${key}"] .ks-name`)?.focus({ preventScroll: true });
  requestAnimationFrame(() => requestAnimationFrame(focus));
}
