import type { JSX } from "preact";
import { formatCount, formatDuration, formatShare } from "../../base/format";
import type { Palette } from "../../base/palette";
import type { Finding } from "../../source/protocol";
import { titleOf } from "../findings";
import type { Timeline } from "../timeline";
import { EventLink } from "./event-link";
import { IconButton } from "./icons";

interface Props {
  readonly timeline: Timeline;
  readonly palette: Palette;
  readonly finding: Finding;
}

/** A finding: cost, fix and evidence. */
export function FindingPanel({ timeline, palette, finding }: Props): JSX.Element {
  const all = timeline.findings.all.value;
  const { length } = finding.evidence;
  return (
    <div class="ks-finding">
      <h3>
        <span class="ks-event-name">{titleOf(finding)}</span>
        <small>
          {all.indexOf(finding) + 1} of {all.length}
        </small>
        <IconButton icon="up" label="Previous finding (Shift+G)" onClick={() => timeline.stepFinding(-1)} />
        <IconButton icon="down" label="Next finding (g)" onClick={() => timeline.stepFinding(1)} />
      </h3>
      <div class="ks-columns">
        <div class="ks-column">
          <p>{finding.detail}</p>
          <p class="ks-advice">
            <b>Fix</b> {finding.advice}
          </p>
          <dl class="ks-facts">
            {factsOf(timeline, finding).map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd title={value === finding.label ? finding.subject : undefined}>{value}</dd>
              </div>
            ))}
          </dl>
        </div>
        <div class="ks-column ks-wide">
          <h4>
            evidence: {length < finding.count ? `${length} costliest of ${formatCount(finding.count)}` : "all events"}
          </h4>
          <div class="ks-links">
            {finding.evidence.map((event) => (
              <EventLink
                key={event.id}
                timeline={timeline}
                palette={palette}
                event={event}
                visit={() => timeline.visitEvidence(finding, event)}
              />
            ))}
          </div>
        </div>
      </div>
    </div>
  );
}

function factsOf(timeline: Timeline, finding: Finding): readonly (readonly [string, string])[] {
  const facts: [string, string][] = [
    ["cost", `at most ${formatDuration(finding.cost_ns)} · ${formatShare(finding.share, 1)} of the time`],
    ["subject", finding.label],
    ["occurrences", formatCount(finding.count)],
    ["confidence", formatShare(finding.confidence, 1)],
  ];
  if (timeline.overview.parts.length > 1) facts.unshift(["trace", timeline.partName(finding.part)]);
  return facts.filter(([, value]) => value !== "");
}
