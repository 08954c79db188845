const FACTORS: Readonly<Record<string, number>> = {
  "": 1,
  ns: 1,
  µs: 1e3,
  us: 1e3,
  ms: 1e6,
  s: 1e9,
  min: 60e9,
  h: 3600e9,
  "%": 1,
};

/**
 * Makes a sort key of a cell: `1.5 ms` before `2 s`, `1,234` as a number, anything else as text.
 */
export function sortKey(cell: string): number | string {
  const text = cell.trim();
  const match = /^[<>]?([−-]?[\d,]+(?:\.\d+)?)\s*(\D*)$/.exec(text);
  const factor = FACTORS[match?.[2]?.trim() ?? "none"];
  if (!match || factor === undefined) return text;
  return Number((match[1] ?? "").replaceAll(",", "").replace("−", "-")) * factor;
}
