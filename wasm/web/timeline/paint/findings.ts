import { scaleOf } from "../../base/scale";
import type { Finding } from "../../source/protocol";
import { type FindingGroup, markerWidth, titleOf } from "../findings";
import { cssFindingsTop, FINDINGS_HEIGHT, fontOf, type Scene } from "./scene";

const SIZE = 14;
const GAP = 6;

/** Draws the line of findings: a marker at each start, and the name where there is room. */
export function paintFindings(context: CanvasRenderingContext2D, scene: Scene): void {
  const { timeline, look, dpr, width, scale, cssWidth } = scene;
  if (!timeline.findings.hasMarkers) return;
  const top = Math.round(cssFindingsTop(timeline) * dpr);
  context.fillStyle = look.line;
  context.fillRect(0, top, width, Math.round(dpr));
  const groups = timeline.findings.groups(scaleOf(scale.window, cssWidth));
  for (const [index, group] of groups.entries()) {
    const next = groups[index + 1]?.x ?? cssWidth + 200;
    if (next < 0 || group.x > cssWidth) continue;
    paintMarker(context, scene, group, top);
    paintTitle(context, scene, group, { top, room: next - group.x - markerWidth(group) - GAP });
  }
}

function paintMarker(context: CanvasRenderingContext2D, scene: Scene, group: FindingGroup, top: number): void {
  const { look, dpr, timeline } = scene;
  const isCurrent = group.findings.some((finding: Finding) => finding === timeline.findings.current.value);
  context.fillStyle = isCurrent ? look.accent : look.hit;
  context.beginPath();
  const box = { x: Math.round(group.x * dpr), y: top + Math.round(2.5 * dpr), width: markerWidth(group) * dpr };
  context.roundRect(box.x, box.y, box.width, SIZE * dpr, [0, 4 * dpr, 4 * dpr, 4 * dpr]);
  context.fill();
  context.fillStyle = isCurrent ? look.onAccent : look.onHit;
  context.font = fontOf(scene, 10, 700);
  context.textAlign = "center";
  context.textBaseline = "middle";
  const text = group.findings.length > 1 ? String(group.findings.length) : "!";
  context.fillText(text, box.x + box.width / 2, box.y + (SIZE / 2 + 0.5) * dpr);
}

interface Room {
  readonly top: number;
  readonly room: number;
}

function paintTitle(context: CanvasRenderingContext2D, scene: Scene, group: FindingGroup, { top, room }: Room): void {
  const [first, ...others] = group.findings;
  if (!first) return;
  const { dpr, look, fitter } = scene;
  context.font = fontOf(scene, 10.5);
  context.textAlign = "left";
  context.fillStyle = look.text;
  const more = others.length > 0 ? ` + ${others.length}` : "";
  const text = fitter.fit(`${titleOf(first)}${more}`, Math.min(220, room - 4));
  const x = Math.round((group.x + markerWidth(group) + 4) * dpr);
  if (text) context.fillText(text, x, top + (FINDINGS_HEIGHT / 2 + 0.5) * dpr);
}
