import type { JSX } from "preact";

/** Most characters at the end that stay. */
const END = 12;
/** Shorter names have room. */
const LONG = 2 * END;

/**
 * A name on one line. Where it has no room, it is cut before its end, which often tells it apart:
 * the line of a file, the tile of a kernel, the model of a device.
 */
export function Cut({ text }: { text: string }): JSX.Element {
  if (text.length < LONG) return <span>{text}</span>;
  const at = endOf(text);
  return (
    <span class="ks-cut">
      <span>{text.slice(0, at)}</span>
      <span>{text.slice(at)}</span>
    </span>
  );
}

/** Where the end starts: with a word, if one starts near. */
function endOf(text: string): number {
  const at = text.length - END;
  const word = text.slice(at - 1).search(/[\s_·.:/(<][^\s_·.:/(<]/);
  if (word >= 0 && word < END / 2) return at - 1 + word;
  return /[\uDC00-\uDFFF]/.test(text.charAt(at)) ? at - 1 : at;
}
