import { css, mix, parseColor, type Rgb } from "../base/color";
import { type Palette, paletteOf, type Scheme, type Theme } from "../base/palette";

/** Colours and fonts of the canvas, from the style sheet. */
export interface Look {
  readonly palette: Palette;
  readonly background: string;
  readonly header: string;
  readonly band: string;
  readonly line: string;
  readonly text: string;
  readonly muted: string;
  readonly accent: string;
  readonly onAccent: string;
  readonly hit: string;
  readonly onHit: string;
  readonly note: string;
  readonly path: string;
  readonly fontFamily: string;
}

export function readLook(element: Element, theme: Theme, scheme: Scheme): Look {
  const style = getComputedStyle(element);
  const read = (name: string) => style.getPropertyValue(`--ks-${name}`).trim();
  const background = toRgb(read("bg")) ?? fallbackBackground(theme);
  return {
    palette: paletteOf(theme, background, scheme),
    background: css(background),
    header: read("bg-2"),
    band: css(mix(toRgb(read("text")) ?? { r: 128, g: 128, b: 128 }, background, 0.045)),
    line: read("line"),
    text: read("text"),
    muted: read("muted"),
    accent: read("accent"),
    onAccent: read("on-accent"),
    hit: read("hit"),
    onHit: read("on-hit"),
    note: read("note"),
    path: read("path"),
    fontFamily: style.fontFamily,
  };
}

const fallbackBackground = (theme: Theme): Rgb =>
  theme === "dark" ? { r: 24, g: 26, b: 31 } : { r: 255, g: 255, b: 255 };

/** Converts any CSS colour: a canvas accepts them all and returns one form. */
function toRgb(color: string): Rgb | null {
  const direct = parseColor(color);
  if (direct) return direct;
  const context = document.createElement("canvas").getContext("2d");
  if (!context) return null;
  context.fillStyle = color;
  return parseColor(String(context.fillStyle));
}
