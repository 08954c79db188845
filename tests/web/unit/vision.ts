import type { Rgb } from "../../../wasm/web/base/color";

/**
 * Colour vision: matrices for linear RGB, after Machado, Oliveira and Fernandes (2009), at full
 * severity.
 */
const EYES = {
  all: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
} as const;

export type Eye = keyof typeof EYES;
export const EYE_NAMES = Object.keys(EYES) as readonly Eye[];

type Triple = readonly [number, number, number];

/**
 * Perceived difference of two colours, a hundred times their distance in Oklab: 2 is just visible,
 * black and white are 100 apart.
 */
export function difference(a: Rgb, b: Rgb, eye: Eye): number {
  const [x, y] = [oklab(seen(a, eye)), oklab(seen(b, eye))];
  return 100 * Math.hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
}

function seen({ r, g, b }: Rgb, eye: Eye): Triple {
  return times(EYES[eye], [linear(r), linear(g), linear(b)]).map((c) =>
    Math.min(1, Math.max(0, c)),
  ) as unknown as Triple;
}

function linear(byte: number): number {
  const c = byte / 255;
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
}

const LMS = [
  0.4122214708, 0.5363325363, 0.0514459929, 0.2119034982, 0.6806995451, 0.1073969566, 0.0883024619, 0.2817188376,
  0.6299787005,
];
const LAB = [
  0.2104542553, 0.793617785, -0.0040720468, 1.9779984951, -2.428592205, 0.4505937099, 0.0259040371, 0.7827717662,
  -0.808675766,
];

const oklab = (rgb: Triple): Triple => times(LAB, times(LMS, rgb).map(Math.cbrt) as unknown as Triple);

function times(m: readonly number[], [x, y, z]: Triple): Triple {
  const row = (at: number) => (m[at] as number) * x + (m[at + 1] as number) * y + (m[at + 2] as number) * z;
  return [row(0), row(3), row(6)];
}
