import type { JSX } from "preact";
import { formatDuration, formatShare } from "../../base/format";
import type { Finding } from "../../source/protocol";
import { alike, type SharedFinding, titleOf } from "../findings";
import type { Timeline } from "../timeline";
import { useCell } from "./hooks";

interface Props {
  readonly timeline: Timeline;
  readonly close: () => void;
}

/**
 * All findings, sorted by cost, with links to their evidence. Findings that several ranks share
 * appear once.
 */
export function FindingsList({ timeline, close }: Props): JSX.Element {
  const all = useCell(timeline.findings.all);
  if (all.length === 0) return <p class="ks-note">No bottlenecks found.</p>;
  return (
    <ol class="ks-findings">
      {alike(all).map((group, index) => (
        <FindingsItem key={String(index)} timeline={timeline} close={close} group={group} />
      ))}
    </ol>
  );
}

function FindingsItem({ timeline, close, group }: Props & { group: SharedFinding }): JSX.Element {
  const current = useCell(timeline.findings.current);
  const [costliest] = group;
  const visit = (finding: Finding) => () => {
    close();
    timeline.visitFinding(finding);
  };
  const name = group.length === 1 && timeline.overview.parts.length > 1 ? timeline.partName(costliest.part) : "";
  return (
    <li class={current && group.includes(current) ? "ks-current" : ""}>
      <button type="button" class="ks-link" onClick={visit(costliest)}>
        <b>{titleOf(costliest)}</b>
        <span title={costliest.subject}>
          {name && name !== costliest.label && `${name} · `}
          {costliest.label}
        </span>
        <small>
          {group.length > 1 && "up to "}
          {formatDuration(costliest.cost_ns)} · {formatShare(costliest.share, 1)}
        </small>
      </button>
      {group.length > 1 && (
        <div class="ks-parts">
          {group.map((finding, index) => (
            <button key={String(index)} type="button" class="ks-link" onClick={visit(finding)}>
              {timeline.partName(finding.part)}
              <small>{formatDuration(finding.cost_ns)}</small>
            </button>
          ))}
        </div>
      )}
      <p>{costliest.advice}</p>
    </li>
  );
}
