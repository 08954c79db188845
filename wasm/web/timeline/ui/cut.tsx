import type { JSX } from "preact";
import { cutOf } from "../../base/cut";

/** A name on one line. Where it has no room, it is cut before its end. */
export function Cut({ text }: { text: string }): JSX.Element {
  const at = cutOf(text);
  if (at === null) return <span>{text}</span>;
  return (
    <span class="ks-cut">
      <span>{text.slice(0, at)}</span>
      <span>{text.slice(at)}</span>
    </span>
  );
}
