const ELLIPSIS = "…";
// Names in a trace have any length; no screen is this wide.
const LONGEST = 512;

/**
 * Shortens texts to a width. Calls `measure` once per character, so that a frame only adds numbers.
 */
export class TextFitter {
  readonly #measure: (text: string) => number;
  readonly #widths = new Map<string, number>();
  readonly #prefixes = new Map<string, Float32Array>();

  constructor(measure: (text: string) => number) {
    this.#measure = measure;
  }

  /** Returns `text`, or its beginning with an ellipsis, or "" where two characters do not fit. */
  fit(text: string, width: number): string {
    const prefix = this.#prefix(text.length > LONGEST ? text.slice(0, LONGEST) : text);
    if ((prefix[text.length] ?? Number.POSITIVE_INFINITY) <= width) return text;
    const room = width - this.#width(ELLIPSIS);
    const length = lastAtMost(prefix, room);
    return length < 2 ? "" : text.slice(0, length) + ELLIPSIS;
  }

  #prefix(text: string): Float32Array {
    const known = this.#prefixes.get(text);
    if (known) return known;
    const prefix = new Float32Array(text.length + 1);
    let sum = 0;
    for (let i = 0; i < text.length; i++) {
      sum += this.#width(text.charAt(i));
      prefix[i + 1] = sum;
    }
    this.#prefixes.set(text, prefix);
    return prefix;
  }

  #width(character: string): number {
    const known = this.#widths.get(character);
    if (known !== undefined) return known;
    const width = this.#measure(character);
    this.#widths.set(character, width);
    return width;
  }
}

/** The last index of ascending `values` that holds at most `limit`; 0 if none does. */
export function lastAtMost(values: Float32Array, limit: number): number {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((values[middle] as number) <= limit) low = middle;
    else high = middle - 1;
  }
  return low;
}
