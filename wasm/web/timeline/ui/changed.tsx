import type { JSX } from "preact";
import { formatDuration } from "../../base/format";
import type { Change } from "../../source/protocol";

/** The difference of a name's time between two traces. */
export function Changed({ change }: { change: Change }): JSX.Element {
  const { status, before_ns: before, after_ns: after } = change;
  if (status !== "both") return <div class="ks-changed">{status} in the second trace</div>;
  const percent =
    before > 0 ? ` (${after > before ? "+" : "−"}${Math.abs((100 * (after - before)) / before).toFixed(0)} %)` : "";
  return (
    <div class="ks-changed">
      {formatDuration(before)} → <b>{formatDuration(after)}</b>
      {percent} <span>per iteration, all events of this name</span>
    </div>
  );
}
