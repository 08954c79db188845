export interface Rgb {
  readonly r: number;
  readonly g: number;
  readonly b: number;
}

const toByte = (linear: number): number => {
  const c = Math.min(1, Math.max(0, linear));
  const s = c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055;
  return Math.round(255 * s);
};

/** Converts from OKLCH, where equal steps of lightness look equal for every hue. */
export function oklch(lightness: number, chroma: number, hue: number): Rgb {
  const angle = (hue * Math.PI) / 180;
  const a = chroma * Math.cos(angle);
  const b = chroma * Math.sin(angle);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return {
    r: toByte(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    g: toByte(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    b: toByte(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  };
}

/** Mixes two colours: `share` of `a`, the rest of `b`. */
export function mix(a: Rgb, b: Rgb, share: number): Rgb {
  const part = (x: number, y: number) => Math.round(x * share + y * (1 - share));
  return { r: part(a.r, b.r), g: part(a.g, b.g), b: part(a.b, b.b) };
}

export function css({ r, g, b }: Rgb): string {
  return `#${[r, g, b].map((c) => c.toString(16).padStart(2, "0")).join("")}`;
}

/** Parses `#rgb`, `#rrggbb` and `rgb(r, g, b)`. Returns null for anything else. */
export function parseColor(text: string): Rgb | null {
  const hex = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(text.trim())?.[1];
  if (hex) return fromHex(hex.length === 3 ? hex.replace(/./g, "$&$&") : hex);
  const parts = /^rgba?\(\s*([\d.]+)[\s,]+([\d.]+)[\s,]+([\d.]+)/.exec(text.trim());
  return parts ? { r: Number(parts[1]), g: Number(parts[2]), b: Number(parts[3]) } : null;
}

function fromHex(hex: string): Rgb {
  const n = Number.parseInt(hex, 16);
  return { r: n >> 16, g: (n >> 8) & 255, b: n & 255 };
}

/** Relative luminance, from 0 (black) to 1 (white). */
export function luminance({ r, g, b }: Rgb): number {
  const linear = (byte: number) => {
    const c = byte / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

/** WCAG contrast ratio, from 1 to 21. */
export function contrast(a: Rgb, b: Rgb): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}
