import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { formatDuration, formatShare } from "../../base/format";
import { titleOf } from "../findings";
import type { Timeline } from "../timeline";
import { useCell } from "./hooks";
import { place } from "./tooltip";

const MOST = 4;

/** Findings of the markers under the pointer. */
export function FindingTip({ timeline }: { timeline: Timeline }): JSX.Element | null {
  const hover = useCell(timeline.findings.hover);
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (hover && box.current) place(box.current, hover.x, hover.y);
  }, [hover]);
  if (!hover) return null;
  const others = hover.findings.length - MOST;
  return (
    <div class="ks-tooltip" role="tooltip" ref={box}>
      {hover.findings.slice(0, MOST).map((finding, index) => (
        <div key={String(index)} class="ks-finding-line">
          <div class="ks-tooltip-name">{titleOf(finding)}</div>
          <div>
            <b>{formatDuration(finding.cost_ns)}</b> · {formatShare(finding.share, 1)} <span>{finding.label}</span>
          </div>
        </div>
      ))}
      {others > 0 && <span>and {others} more</span>}
    </div>
  );
}
