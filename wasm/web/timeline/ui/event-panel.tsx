import type { JSX } from "preact";
import { copyText } from "../../base/clipboard";
import { formatCount, formatExact, formatShare } from "../../base/format";
import { kindColor, type Palette } from "../../base/palette";
import type { EventDetails } from "../../source/protocol";
import { benchmarkCommand } from "../benchmark";
import { idInTrace } from "../event-id";
import type { Selected } from "../selection";
import type { Timeline } from "../timeline";
import { ArgsTable } from "./args-table";
import { Fact, TrackName } from "./fact";
import { Icon, IconButton } from "./icons";
import { Name } from "./name";
import { NodeTable } from "./node-table";
import { Relations } from "./relations";

interface Props {
  readonly timeline: Timeline;
  readonly palette: Palette;
  readonly selected: Selected;
}

/** All details of an event. */
export function EventPanel({ timeline, palette, selected }: Props): JSX.Element {
  const { details } = selected;
  return (
    <div class="ks-event">
      <h3>
        <i style={{ background: kindColor(palette, details.kind) }} />
        <span class="ks-event-name">
          <Name event={details} />
        </span>
        <IconButton icon="focus" label="Zoom to it (f f)" onClick={() => timeline.showEvent(details)} />
        <CopyButton label="Copy the name" text={details.name} />
      </h3>
      <div class="ks-columns">
        <Facts timeline={timeline} details={details} />
        <Relations timeline={timeline} palette={palette} selected={selected} />
        <div class="ks-column ks-wide">
          {details.node && <NodeTable node={details.node} />}
          <ArgsTable args={details.args} open={!details.node} />
        </div>
      </div>
    </div>
  );
}

function CopyButton({ label, text }: { label: string; text: string }): JSX.Element {
  return (
    <button
      type="button"
      class="ks-button ks-icon-button"
      title={label}
      aria-label={label}
      onClick={(event) => copyText(text, event.currentTarget)}
    >
      <Icon name="copy" />
    </button>
  );
}

interface FactsProps {
  readonly timeline: Timeline;
  readonly details: EventDetails;
}

function Facts({ timeline, details }: FactsProps): JSX.Element {
  const self = Number(details.self_ns);
  const benchmark = benchmarkCommand(timeline.overview, details);
  return (
    <dl class="ks-column ks-facts">
      <Fact name="duration" title={`${details.dur_ns} ns`}>
        <b>{formatExact(details.dur)}</b>
      </Fact>
      {details.recorded_dur_ns && (
        <Fact name="recorded" title={`${details.recorded_dur_ns} ns`}>
          {formatExact(Number(details.recorded_dur_ns))} <small>impossible: cut at the next start</small>
        </Fact>
      )}
      {self !== details.dur && (
        <Fact name="self time" title={`${details.self_ns} ns`}>
          {formatExact(self)} <small>{formatShare(self, details.dur)}</small>
        </Fact>
      )}
      <Fact name="start" title={`${details.start_ns} ns`}>
        {formatExact(details.start)}
      </Fact>
      {details.idle_before && (
        <Fact name="idle before">
          <button type="button" class="ks-link" title="Explain (i)" onClick={() => timeline.explainBefore()}>
            {formatExact(details.idle_before.dur)}
          </button>
        </Fact>
      )}
      {details.iteration !== null && <Fact name="iteration">{details.iteration}</Fact>}
      {timeline.overview.parts.length > 1 && <Fact name="trace">{timeline.partName(details.part)}</Fact>}
      <Fact name="track">
        <TrackName timeline={timeline} track={details.track} />
      </Fact>
      <Fact name="kind">{details.kind}</Fact>
      <Fact name="category">{details.category}</Fact>
      {details.num_children > 0 && <Fact name="events inside">{formatCount(details.num_children)}</Fact>}
      <Fact name="id" title="Position in traceEvents">
        {idInTrace(timeline.overview, details)}
      </Fact>
      {benchmark && (
        <Fact name="benchmark">
          <button
            type="button"
            class="ks-link"
            title={benchmark}
            onClick={(event) => copyText(benchmark, event.currentTarget)}
          >
            Copy as benchmark
          </button>
        </Fact>
      )}
    </dl>
  );
}
