import { TextFitter } from "../../base/text";
import type { Look } from "../look";
import { FONT_SIZE } from "./scene";

/** Fits names into bars, in the font of the canvas. */
export function fitterOf(look: Look): TextFitter {
  const context = document.createElement("canvas").getContext("2d");
  if (!context) return new TextFitter((text) => text.length * FONT_SIZE * 0.6);
  context.font = `400 ${FONT_SIZE}px ${look.fontFamily}`;
  return new TextFitter((text) => context.measureText(text).width);
}
