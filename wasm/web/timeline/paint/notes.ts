import { scaleOf } from "../../base/scale";
import type { Note } from "../notes";
import type { Timeline } from "../timeline";
import { fontOf, NOTES_HEIGHT, RULER_HEIGHT, type Scene } from "./scene";

const FLAG = 9;
const GAP = 6;
const MAX_WIDTH = 220;

/** Positions of notes in their line, in CSS pixels; each has the room up to the next. */
function* placesOf(timeline: Timeline, width: number): Generator<{ note: Note; left: number; right: number }> {
  const scale = scaleOf(timeline.viewport.window.value, width);
  const notes = timeline.notes.all.value;
  for (const [index, note] of notes.entries()) {
    const next = notes[index + 1];
    const start = scale.x(note.start);
    const end = Math.max(scale.x(note.end), start + MAX_WIDTH);
    const right = next ? Math.min(end, Math.max(start + FLAG, scale.x(next.start) - GAP)) : end;
    yield { note, left: note.end > note.start && right > 0 ? Math.max(0, start) : start, right };
  }
}

/** The note at a point of the picture. */
export function noteAt(timeline: Timeline, x: number, y: number): Note | null {
  if (y < RULER_HEIGHT || y >= RULER_HEIGHT + NOTES_HEIGHT) return null;
  const places = [...placesOf(timeline, timeline.size.value.width)].reverse();
  return places.find(({ left, right }) => x >= left - 2 && x <= right)?.note ?? null;
}

/** Draws the line of notes: a flag at each start, the text, and a bar for its duration. */
export function paintNotes(context: CanvasRenderingContext2D, scene: Scene): void {
  const { timeline, look, dpr, cssWidth, width } = scene;
  if (timeline.notes.all.value.length === 0) return;
  const top = Math.round(RULER_HEIGHT * dpr);
  context.fillStyle = look.line;
  context.fillRect(0, top, width, Math.round(dpr));
  context.font = fontOf(scene, 10.5, 500);
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (const { note, left, right } of placesOf(timeline, cssWidth)) {
    if (right < 0 || left > cssWidth) continue;
    paintBar(context, scene, note, top);
    paintFlag(context, scene, left, top);
    const isOpen = timeline.notes.current.value === note;
    const text = scene.fitter.fit(note.text || (isOpen ? "…" : ""), right - left - FLAG - 4);
    context.fillStyle = look.text;
    context.fillText(text, Math.round((left + FLAG + 4) * dpr), top + (NOTES_HEIGHT / 2 + 0.5) * dpr);
  }
}

function paintBar(context: CanvasRenderingContext2D, scene: Scene, note: Note, top: number): void {
  const { scale, look, dpr, width, timeline } = scene;
  const left = Math.max(-2, Math.round(scale.x(note.start)));
  const right = Math.min(width + 2, Math.round(scale.x(note.end)));
  context.fillStyle = look.note;
  context.globalAlpha = timeline.notes.current.value === note ? 0.36 : 0.18;
  if (right > left)
    context.fillRect(left, top + Math.round(2 * dpr), right - left, Math.round((NOTES_HEIGHT - 3) * dpr));
  context.globalAlpha = 1;
}

function paintFlag(context: CanvasRenderingContext2D, { look, dpr }: Scene, left: number, top: number): void {
  const x = Math.round(left * dpr);
  context.fillStyle = look.note;
  context.fillRect(
    x,
    top + Math.round(2 * dpr),
    Math.max(1, Math.round(1.5 * dpr)),
    Math.round((NOTES_HEIGHT - 2) * dpr),
  );
  context.beginPath();
  context.moveTo(x, top + 3 * dpr);
  context.lineTo(x + FLAG * dpr, top + 7 * dpr);
  context.lineTo(x, top + 11 * dpr);
  context.fill();
}

/** Draws the edges of the notes through the tracks. */
export function paintPoles(context: CanvasRenderingContext2D, scene: Scene): void {
  const { timeline, scale, look, dpr, height } = scene;
  context.fillStyle = look.note;
  for (const note of timeline.notes.all.value) {
    context.globalAlpha = timeline.notes.current.value === note ? 0.8 : 0.4;
    for (const time of new Set([note.start, note.end])) {
      const x = Math.round(scale.x(time));
      context.fillRect(x, scene.headerHeight, Math.max(1, Math.round(dpr)), height);
    }
  }
  context.globalAlpha = 1;
}
