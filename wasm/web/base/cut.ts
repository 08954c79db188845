/** Most characters at the end that stay. */
const END = 12;
/** Shorter names have room. */
const LONG = 2 * END;

/**
 * Where a name is cut if it has no room: before its end, which often tells it apart, such as the
 * line of a file, the tile of a kernel, the model of a device. Null for a short name.
 */
export function cutOf(text: string): number | null {
  if (text.length < LONG) return null;
  const at = text.length - END;
  const word = text.slice(at - 1).search(/[\s_·.:/(<][^\s_·.:/(<]/);
  if (word >= 0 && word < END / 2) return at - 1 + word;
  return /[\uDC00-\uDFFF]/.test(text.charAt(at)) ? at - 1 : at;
}
