import { css, mix, oklch, parseColor, type Rgb } from "./color";
import { hashOf } from "./hash";

export type Theme = "light" | "dark";
export const COLOR_BY = ["kind", "name", "operator", "module"] as const;
export type ColorBy = (typeof COLOR_BY)[number];

export const KINDS = [
  "operator",
  "launch",
  "kernel",
  "communication",
  "copy",
  "fill",
  "sync",
  "annotation",
  "python",
  "overhead",
  "other",
] as const;
export type Kind = (typeof KINDS)[number];

interface Tone {
  readonly hue: number;
  readonly chroma: number;
  /** Added to the theme's lightness, so that kinds differ without hue, too. */
  readonly lift: number;
}

// Kinds that share a track differ in lightness and along blue and yellow, so that people who cannot
// see red or green tell them apart. Found by search; a test checks it.
const TONES: Readonly<Record<Kind, Tone>> = {
  operator: { hue: 240, chroma: 0.084, lift: 0.043 },
  launch: { hue: 60, chroma: 0.14, lift: 0.051 },
  kernel: { hue: 152, chroma: 0.092, lift: 0.031 },
  communication: { hue: 258, chroma: 0.159, lift: -0.058 },
  copy: { hue: 310, chroma: 0.126, lift: -0.144 },
  fill: { hue: 307, chroma: 0.074, lift: 0.057 },
  sync: { hue: 38, chroma: 0.13, lift: -0.13 },
  annotation: { hue: 246, chroma: 0.012, lift: -0.13 },
  python: { hue: 107, chroma: 0.03, lift: 0.045 },
  overhead: { hue: 20, chroma: 0.02, lift: -0.06 },
  other: { hue: 260, chroma: 0.008, lift: 0 },
};

/** `okabe-ito` has colours that people with any colour vision tell apart, on any track. */
export type Scheme = "standard" | "okabe-ito";

// Near the hues of Okabe and Ito, in the lightness that names on bars need. Found by search; a test
// checks them. Other kinds are grey in both schemes.
const OKABE_ITO: Readonly<Record<Theme, Partial<Readonly<Record<Kind, string>>>>> = {
  light: {
    operator: "#7ccbff",
    launch: "#d69c0f",
    kernel: "#21986a",
    communication: "#4799f0",
    copy: "#cb6ab8",
    fill: "#f1cc42",
    sync: "#cc671f",
    annotation: "#b3b6b8",
    python: "#ded8c4",
  },
  dark: {
    operator: "#00638c",
    launch: "#824500",
    kernel: "#003e27",
    communication: "#003b76",
    copy: "#5d1254",
    fill: "#826e00",
    sync: "#780000",
    annotation: "#404c59",
    python: "#726f61",
  },
};

interface Base {
  readonly lightness: number;
  readonly chroma: number;
  /** Difference in lightness between two shades of a kind. */
  readonly step: number;
  readonly lift: number;
}

const BASE: Readonly<Record<Theme, Base>> = {
  light: { lightness: 0.8, chroma: 1, step: 0.016, lift: 1 },
  dark: { lightness: 0.475, chroma: 0.95, step: 0.018, lift: 0.8 },
};

const SHADES = 4;
const HUES = 14;

/** Colours of one theme. A colour code is an index into `fills`, `merged` and `dimmed`. */
export interface Palette {
  readonly theme: Theme;
  readonly fills: readonly string[];
  /** For a rectangle that stands for several events. */
  readonly merged: readonly string[];
  /** For events that a search does not match. */
  readonly dimmed: readonly string[];
  readonly text: string;
  /** The same colours as canvas pixels. */
  readonly pixels: {
    readonly fills: Uint32Array;
    readonly merged: Uint32Array;
    readonly dimmed: Uint32Array;
  };
}

const kindIndex = new Map<string, number>([
  ...KINDS.map((kind, index) => [kind, index] as const),
  // In summaries, calls that wait for a device are apart from other launches.
  ["wait", KINDS.indexOf("sync")],
]);

function kindFill(kind: Kind, shade: number, theme: Theme, scheme: Scheme): Rgb {
  const known = scheme === "okabe-ito" ? parseColor(OKABE_ITO[theme][kind] ?? "") : null;
  if (known) return known;
  const { lightness, chroma, step, lift } = BASE[theme];
  const tone = TONES[kind];
  const offset = shade - (SHADES - 1) / 2;
  return oklch(lightness + tone.lift * lift + offset * step, tone.chroma * chroma, tone.hue + offset * 4);
}

function nameFill(index: number, theme: Theme): Rgb {
  const { lightness, chroma, step } = BASE[theme];
  const offset = (index % 3) - 1;
  return oklch(lightness + offset * step, 0.092 * chroma, 20 + (index * 360) / HUES);
}

export function paletteOf(theme: Theme, background: Rgb, scheme: Scheme = "standard"): Palette {
  const byKind = KINDS.flatMap((kind) =>
    Array.from({ length: SHADES }, (_, shade) => kindFill(kind, shade, theme, scheme)),
  );
  const byName = Array.from({ length: HUES }, (_, index) => nameFill(index, theme));
  const fills = [...byKind, ...byName];
  const merged = fills.map((fill) => mix(fill, background, 0.72));
  const dimmed = fills.map((fill) => mix(fill, background, theme === "dark" ? 0.3 : 0.28));
  return {
    theme,
    fills: fills.map(css),
    merged: merged.map(css),
    dimmed: dimmed.map(css),
    pixels: { fills: pixelsOf(fills), merged: pixelsOf(merged), dimmed: pixelsOf(dimmed) },
    text: theme === "dark" ? "#f3f5f8" : "#16191d",
  };
}

/** Packs red, green, blue and an opaque alpha into 32 bits in the machine's byte order. */
function pixelsOf(colors: readonly Rgb[]): Uint32Array {
  const bytes = new Uint8Array(colors.flatMap(({ r, g, b }) => [r, g, b, 255]));
  return new Uint32Array(bytes.buffer);
}

/** The colour code of an event. Shades distinguish names of one kind. */
export function colorCode(kind: string, name: string, by: ColorBy): number {
  const hash = hashOf(name);
  if (by !== "kind") return KINDS.length * SHADES + (hash % HUES);
  return (kindIndex.get(kind) ?? KINDS.length - 1) * SHADES + (hash % SHADES);
}

/** The colour code of an operator or a module by its name; grey for an empty name. */
export function ownerCode(name: string): number {
  return name === "" ? (KINDS.length - 1) * SHADES + 1 : KINDS.length * SHADES + (hashOf(name) % HUES);
}

/** The middle shade of a kind, for legends. */
export function kindColor(palette: Palette, kind: string): string {
  return palette.fills[(kindIndex.get(kind) ?? KINDS.length - 1) * SHADES + 1] ?? palette.text;
}
