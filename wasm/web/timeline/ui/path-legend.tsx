import type { JSX } from "preact";
import { formatDuration, formatShare } from "../../base/format";
import type { BoundShare, PathShare } from "../../source/protocol";
import type { Timeline } from "../timeline";
import { useCell } from "./hooks";
import { IconButton } from "./icons";

// Bounds to show per trace.
const MOST = 2;
// Ranks to show: those with the largest share of the path.
const MOST_RANKS = 8;

/** Bounds of the critical path, while it is shown. */
export function PathLegend({ timeline }: { timeline: Timeline }): JSX.Element | null {
  const isOn = useCell(timeline.path.isOn);
  const steps = useCell(timeline.path.steps);
  if (!isOn) return null;
  const parts = timeline.overview.parts.filter(({ part }) => steps?.shares.some((share) => share.part === part));
  return (
    <section class="ks-path-legend" aria-label="Bounds of the critical path">
      <header>
        <i />
        <strong>Critical path</strong>
        <IconButton icon="close" label="Hide the critical path (k)" onClick={() => timeline.path.isOn.set(false)} />
      </header>
      {!steps && <p class="ks-note">Computing the critical path …</p>}
      {steps && steps.shares.length === 0 && <p class="ks-note">No operators, launches or kernels.</p>}
      {steps?.shares.some(({ part }) => part === null) && (
        <Through timeline={timeline} shares={steps.shares} ranks={steps.ranks} />
      )}
      {parts.slice(0, 8).map(({ part }) => (
        <Shares
          key={part}
          name={parts.length > 1 ? timeline.partName(part) : ""}
          shares={(steps?.shares ?? [])
            .filter((share) => share.part === part)
            .slice(0, parts.length > 1 ? MOST : undefined)}
        />
      ))}
    </section>
  );
}

interface ThroughProps {
  readonly timeline: Timeline;
  readonly shares: readonly BoundShare[];
  readonly ranks: readonly PathShare[];
}

/** A path through all ranks: its bounds, and each rank's share. */
function Through({ timeline, shares, ranks }: ThroughProps): JSX.Element {
  const on = ranks.filter(({ total_ns: time }) => time > 0).sort((a, b) => b.total_ns - a.total_ns);
  return (
    <>
      <Shares name="by bound" shares={shares} />
      <table>
        <caption>by rank</caption>
        <tbody>
          {on.slice(0, MOST_RANKS).map(({ part, share, total_ns }) => (
            <tr key={part}>
              <th scope="row">
                <button type="button" class="ks-link" onClick={() => timeline.showPart(part)}>
                  {timeline.partName(part)}
                </button>
              </th>
              <td class="ks-number">{formatShare(share, 1)}</td>
              <td class="ks-number">{formatDuration(total_ns)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function Shares({ name, shares }: { name: string; shares: readonly BoundShare[] }): JSX.Element {
  return (
    <table>
      {name && <caption>{name}</caption>}
      <tbody>
        {shares.map(({ bound, share, total_ns }) => (
          <tr key={bound}>
            <th scope="row">{bound.replaceAll("_", " ")}</th>
            <td class="ks-number">{formatShare(share, 1)}</td>
            <td class="ks-number">{formatDuration(total_ns)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
