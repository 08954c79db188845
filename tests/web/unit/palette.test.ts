import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { contrast, css, mix, oklch, parseColor, type Rgb } from "../../../wasm/web/base/color";
import { colorCode, KINDS, type Kind, type Palette, paletteOf, type Theme } from "../../../wasm/web/base/palette";
import { difference, EYE_NAMES, type Eye } from "./vision";

const GROUNDS: Record<Theme, Rgb> = { light: { r: 255, g: 255, b: 255 }, dark: { r: 22, g: 24, b: 29 } };

function rgb(color: string | undefined): Rgb {
  const parsed = parseColor(color ?? "");
  assert.ok(parsed, `expected a colour, found ${color}`);
  return parsed;
}

for (const theme of ["light", "dark"] as const) {
  const palette = paletteOf(theme, GROUNDS[theme]);

  test(`${theme}: names are readable on every bar`, () => {
    for (const fill of [...palette.fills, ...palette.merged]) {
      assert.ok(contrast(rgb(fill), rgb(palette.text)) >= 4.5, `${fill} under ${palette.text}`);
    }
  });

  test(`${theme}: every bar stands out from the background`, () => {
    for (const fill of palette.fills) assert.ok(contrast(rgb(fill), GROUNDS[theme]) > 1.25, fill);
  });

  for (const eye of EYE_NAMES) {
    test(`${theme}, ${eye}: kinds on one track differ in every shade`, () => {
      for (const kinds of [HOST, DEVICE]) for (const [a, b] of pairs(kinds)) assertApart(palette, eye, a, b);
    });
  }

  test(`${theme}: all kinds of events differ`, () => {
    const kinds = [...new Set([...HOST, ...DEVICE])];
    for (const [a, b] of pairs(kinds)) assertApart(palette, "all", a, b);
  });

  test(`${theme}: text of toolbar, gutter and panels is readable`, () => {
    const colors = variables(theme);
    for (const ink of ["text", "muted", "accent", "bad", "note", "hit"]) {
      for (const ground of ["bg", "bg-2", "bg-3"]) assertReadable(colors, ink, ground);
    }
    assertReadable(colors, "on-accent", "accent");
    assertReadable(colors, "warn", "warn-bg");
    // Marks are no text: a contrast of three to one is enough.
    for (const ink of ["accent", "hit", "note"]) assertReadable(colors, ink, "bg", 3);
  });
}

for (const theme of ["light", "dark"] as const) {
  const palette = paletteOf(theme, GROUNDS[theme], "okabe-ito");

  test(`${theme}, Okabe–Ito: all kinds differ for every eye, and names are readable on them`, () => {
    const kinds = [...new Set([...HOST, ...DEVICE])];
    for (const eye of EYE_NAMES) for (const [a, b] of pairs(kinds)) assertApart(palette, eye, a, b);
    for (const fill of palette.fills) {
      assert.ok(contrast(rgb(fill), rgb(palette.text)) >= 4.5, `${fill} under ${palette.text}`);
      assert.ok(contrast(rgb(fill), GROUNDS[theme]) > 1.25, fill);
    }
  });
}

const HOST = ["operator", "launch", "sync", "annotation", "python"] as const;
const DEVICE = ["kernel", "communication", "copy", "fill", "annotation", "sync"] as const;

function pairs<T>(items: readonly T[]): [T, T][] {
  return items.flatMap((a, i) => items.slice(i + 1).map((b): [T, T] => [a, b]));
}

/**
 * Requires six hundredths of the distance between black and white, three times the visible
 * difference.
 */
function assertApart(palette: Palette, eye: Eye, a: Kind, b: Kind): void {
  for (const x of shades(palette, a)) {
    for (const y of shades(palette, b)) {
      const found = difference(rgb(x), rgb(y), eye);
      assert.ok(found >= 6, `${a} ${x} and ${b} ${y} are ${found.toFixed(1)} apart`);
    }
  }
}

const shades = (palette: Palette, kind: Kind): readonly string[] =>
  palette.fills.slice(4 * KINDS.indexOf(kind), 4 * KINDS.indexOf(kind) + 4);

/** The colours of the style sheet without a host's colours. */
function variables(theme: Theme): ReadonlyMap<string, Rgb> {
  const css = readFileSync("wasm/web/timeline/style/root.css", "utf8");
  const colors = new Map<string, Rgb>();
  for (const [, name, color] of blockOf(css, theme).matchAll(/--ks-([\w-]+): [^;]*?(#[0-9a-f]{6})\)*;/g)) {
    colors.set(name as string, rgb(color));
  }
  return colors;
}

const blockOf = (css: string, theme: Theme): string =>
  css.split(theme === "dark" ? '.ks-root[data-theme="dark"] {' : ".ks-root {")[1]?.split("}")[0] ?? "";

function assertReadable(colors: ReadonlyMap<string, Rgb>, ink: string, ground: string, least = 4.5): void {
  const [a, b] = [colors.get(ink), colors.get(ground)];
  assert.ok(a && b, `expected the colours ${ink} and ${ground}`);
  const found = contrast(a, b);
  assert.ok(found >= least, `${ink} on ${ground}: ${found.toFixed(2)}`);
}

test("an event has the same colour wherever it is drawn", () => {
  assert.equal(colorCode("kernel", "gemm", "name"), colorCode("copy", "gemm", "name"));
  assert.notEqual(colorCode("kernel", "gemm", "kind"), colorCode("copy", "gemm", "kind"));
  assert.equal(colorCode("a kind of tomorrow", "gemm", "kind"), colorCode("other", "gemm", "kind"));
  assert.ok(KINDS.length === 11);
});

test("colours of hosts are parsed", () => {
  assert.deepEqual(parseColor("#fff"), { r: 255, g: 255, b: 255 });
  assert.deepEqual(parseColor(" #102030"), { r: 16, g: 32, b: 48 });
  assert.deepEqual(parseColor("rgb(1, 2, 3)"), { r: 1, g: 2, b: 3 });
  assert.equal(parseColor("var(--x)"), null);
  assert.deepEqual(oklch(1, 0, 0), { r: 255, g: 255, b: 255 });
  assert.equal(css(mix({ r: 0, g: 0, b: 0 }, { r: 255, g: 255, b: 255 }, 0.5)), "#808080");
});
