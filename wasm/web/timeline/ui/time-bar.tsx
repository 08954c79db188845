import type { JSX } from "preact";
import { formatShare } from "../../base/format";
import { kindColor, type Palette } from "../../base/palette";
import type { TimeShare } from "../device-time";

/** How a trace's devices spent their time, as a bar, with their busy share beside it. */
export function TimeBar({ shares, palette }: { shares: readonly TimeShare[]; palette: Palette }): JSX.Element {
  const isWork = ({ kind }: TimeShare) => kind !== "idle" && kind !== "unknown";
  const busy = shares.filter(isWork).reduce((sum, { share }) => sum + share, 0);
  const isUnknown = shares.some(({ kind }) => kind === "unknown");
  const parts = shares.map(({ name, share }) => `${name} ${formatShare(share, 1)}`);
  const text = [`devices ${formatShare(busy, 1)} busy`, ...parts].join("\n");
  return (
    <span class="ks-time-bar" title={text}>
      <span role="img" aria-label={text}>
        {shares.filter(isWork).map(({ name, kind, share }) => (
          <i key={name} style={{ width: `${100 * share}%`, background: kindColor(palette, kind) }} />
        ))}
      </span>
      <small>
        {isUnknown && "≥ "}
        {formatShare(busy, 1)}
      </small>
    </span>
  );
}
