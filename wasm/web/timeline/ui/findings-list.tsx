import type { JSX } from "preact";
import { formatDuration, formatShare } from "../../base/format";
import { titleOf } from "../findings";
import type { Timeline } from "../timeline";
import { useCell } from "./hooks";

/** All findings, the costliest first, each the way to its evidence. */
export function FindingsList({ timeline, close }: { timeline: Timeline; close: () => void }): JSX.Element {
  const all = useCell(timeline.findings.all);
  const current = useCell(timeline.findings.current);
  if (all.length === 0) return <p class="ks-note">Nothing was found of what is looked for.</p>;
  const several = timeline.overview.parts.length > 1;
  return (
    <ol class="ks-findings">
      {all.map((finding, index) => (
        <li key={String(index)} class={finding === current ? "ks-current" : ""}>
          <button
            type="button"
            class="ks-link"
            onClick={() => {
              close();
              timeline.visitFinding(finding);
            }}
          >
            <b>{titleOf(finding)}</b>
            <span title={finding.subject}>
              {several && `${timeline.partName(finding.part)} · `}
              {finding.label}
            </span>
            <small>
              {formatDuration(finding.cost_ns)} · {formatShare(finding.share, 1)}
            </small>
          </button>
          <p>{finding.advice}</p>
        </li>
      ))}
    </ol>
  );
}
