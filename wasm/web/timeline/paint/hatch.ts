import type { Look } from "../look";

export interface Hatch {
  readonly color: string;
  readonly alpha: number;
  /** Device pixels between stripes. */
  readonly size: number;
  readonly line: number;
  /** Rises to the right, or else to the left. */
  readonly rises: boolean;
}

const drawn = new WeakMap<Look, Map<string, CanvasPattern | null>>();

/** A pattern of stripes, cached per look; null where the browser has none. */
export function hatchOf(context: CanvasRenderingContext2D, look: Look, hatch: Hatch): CanvasPattern | null {
  const ofLook = drawn.get(look) ?? new Map<string, CanvasPattern | null>();
  drawn.set(look, ofLook);
  const key = JSON.stringify(hatch);
  const known = ofLook.get(key);
  if (known !== undefined) return known;
  const pattern = drawHatch(context, hatch);
  ofLook.set(key, pattern);
  return pattern;
}

function drawHatch(context: CanvasRenderingContext2D, hatch: Hatch): CanvasPattern | null {
  const { size, rises } = hatch;
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = size;
  const pen = canvas.getContext("2d");
  if (!pen) return null;
  pen.strokeStyle = hatch.color;
  pen.globalAlpha = hatch.alpha;
  pen.lineWidth = hatch.line;
  pen.beginPath();
  for (const x of [-size, 0, size]) {
    pen.moveTo(x, rises ? size : 0);
    pen.lineTo(x + size, rises ? 0 : size);
  }
  pen.stroke();
  return context.createPattern(canvas, "repeat");
}
