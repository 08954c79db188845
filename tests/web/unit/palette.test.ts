import assert from "node:assert/strict";
import { test } from "node:test";
import { contrast, css, mix, oklch, parseColor, type Rgb } from "../../../wasm/web/base/color";
import { colorCode, KINDS, paletteOf, type Theme } from "../../../wasm/web/base/palette";

const GROUNDS: Record<Theme, Rgb> = { light: { r: 255, g: 255, b: 255 }, dark: { r: 22, g: 24, b: 29 } };

function rgb(color: string | undefined): Rgb {
  const parsed = parseColor(color ?? "");
  assert.ok(parsed, `expected a colour, found ${color}`);
  return parsed;
}

for (const theme of ["light", "dark"] as const) {
  const palette = paletteOf(theme, GROUNDS[theme]);

  test(`${theme}: names can be read on every bar`, () => {
    for (const fill of [...palette.fills, ...palette.merged]) {
      assert.ok(contrast(rgb(fill), rgb(palette.text)) >= 4.5, `${fill} under ${palette.text}`);
    }
  });

  test(`${theme}: every bar stands out from the ground`, () => {
    for (const fill of palette.fills) assert.ok(contrast(rgb(fill), GROUNDS[theme]) > 1.25, fill);
  });

  test(`${theme}: kinds that lie on one track differ for people who see no red or no green`, () => {
    const kinds = ["operator", "launch", "sync", "python"] as const;
    const seen = kinds.map((kind) => withoutRed(rgb(palette.fills[colorCode(kind, "", "kind")])));
    for (const [i, a] of seen.entries()) {
      for (const b of seen.slice(i + 1)) assert.ok(distance(a, b) > 24, `${css(a)} ${css(b)}`);
    }
  });
}

/** How a colour looks to a protanope, after Viénot 1999, in sRGB as an approximation. */
function withoutRed({ r, g, b }: Rgb): Rgb {
  const mixed = Math.round(0.112 * r + 0.888 * g);
  return { r: mixed, g: mixed, b: Math.round(0.004 * r - 0.004 * g + b) };
}

const distance = (a: Rgb, b: Rgb): number => Math.hypot(a.r - b.r, a.g - b.g, a.b - b.b);

test("an event has the same colour wherever it is drawn", () => {
  assert.equal(colorCode("kernel", "gemm", "name"), colorCode("copy", "gemm", "name"));
  assert.notEqual(colorCode("kernel", "gemm", "kind"), colorCode("copy", "gemm", "kind"));
  assert.equal(colorCode("a kind of tomorrow", "gemm", "kind"), colorCode("other", "gemm", "kind"));
  assert.ok(KINDS.length === 10);
});

test("colours are read as hosts write them", () => {
  assert.deepEqual(parseColor("#fff"), { r: 255, g: 255, b: 255 });
  assert.deepEqual(parseColor(" #102030"), { r: 16, g: 32, b: 48 });
  assert.deepEqual(parseColor("rgb(1, 2, 3)"), { r: 1, g: 2, b: 3 });
  assert.equal(parseColor("var(--x)"), null);
  assert.deepEqual(oklch(1, 0, 0), { r: 255, g: 255, b: 255 });
  assert.equal(css(mix({ r: 0, g: 0, b: 0 }, { r: 255, g: 255, b: 255 }, 0.5)), "#808080");
});
