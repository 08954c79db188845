interface Unit {
  readonly name: string;
  readonly ns: number;
}

const UNITS: readonly Unit[] = [
  { name: "s", ns: 1e9 },
  { name: "ms", ns: 1e6 },
  { name: "µs", ns: 1e3 },
  { name: "ns", ns: 1 },
];
const NANOSECONDS: Unit = { name: "ns", ns: 1 };

/** The largest unit in which `ns` is at least one. */
function unitOf(ns: number): Unit {
  return UNITS.find((unit) => ns >= unit.ns) ?? NANOSECONDS;
}

/** Formats with four significant digits and no fraction of a nanosecond: `12.35 µs`. */
export function formatDuration(ns: number): string {
  if (ns < 0) return `−${formatDuration(-ns)}`;
  // 999 950 ns would otherwise print as `1000 µs`.
  const unit = unitOf(Number(ns.toPrecision(4)));
  const value = ns / unit.ns;
  if (unit.ns === 1) return `${Math.round(value)} ns`;
  const decimals = Math.max(0, 3 - Math.floor(Math.log10(value)));
  return `${trimZeros(value.toFixed(Math.min(decimals, 3)))} ${unit.name}`;
}

// Below this share of the largest, too many zeros would stand before the digits.
const LEAST_SHARE = 1e-3;

/** Formats like the largest of the durations in a row: `0.932 ms` beside `14.1 ms`. */
export function formatDurationBeside(ns: number, largest: number): string {
  const [size, most] = [Math.abs(ns), Math.abs(largest)];
  const unit = unitOf(Number(most.toPrecision(4)));
  if (size === 0 || size >= unit.ns || size < LEAST_SHARE * most) return formatDuration(ns);
  const sign = ns < 0 ? "−" : "";
  // Whole nanoseconds have so many digits in the unit.
  const decimals = Math.min(Math.round(Math.log10(unit.ns)), 2 - Math.floor(Math.log10(size / unit.ns)));
  return `${sign}${trimZeros((size / unit.ns).toFixed(decimals))} ${unit.name}`;
}

function trimZeros(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** Formats with every digit: `1.234 567 ms`. */
export function formatExact(ns: number): string {
  const sign = ns < 0 ? "−" : "";
  const unit = unitOf(Math.abs(ns));
  const decimals = Math.round(Math.log10(unit.ns));
  const [whole = "0", fraction = ""] = (Math.abs(ns) / unit.ns).toFixed(decimals).split(".");
  const groups =
    fraction
      .match(/.{1,3}/g)
      ?.join(" ")
      .replace(/[0 ]+$/, "") ?? "";
  return `${sign}${whole}${groups && `.${groups}`} ${unit.name}`;
}

/** Labels a tick of the ruler at `ns` with the digits that `step` needs. */
export function formatTick(ns: number, step: number): string {
  if (ns === 0) return "0";
  const unit = unitOf(Math.max(Math.abs(ns), step));
  const decimals = Math.max(0, Math.ceil(-Math.log10(step / unit.ns) - 1e-9));
  return `${(ns / unit.ns).toFixed(decimals)} ${unit.name}`;
}

/** Formats an integer in groups of three digits. `Intl` would delay the first picture. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Formats a count with its noun: `1 event`, `2 events`. */
export function formatPlural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

export function formatShare(part: number, whole: number): string {
  if (whole <= 0) return "–";
  const percent = (100 * part) / whole;
  if (percent > 0 && percent < 0.1) return "< 0.1 %";
  return `${percent.toFixed(percent < 10 ? 1 : 0)} %`;
}

/** Formats a number without a unit: four significant digits unless it is an integer. */
export function formatNumber(value: number): string {
  return Number.isInteger(value) ? formatCount(value) : String(Number(value.toPrecision(4)));
}

const BYTES = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (Math.abs(value) >= 1024 && unit < BYTES.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 || Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3)} ${BYTES[unit]}`;
}
