import type { JSX } from "preact";
import { formatCount, formatDuration, formatExact, formatShare } from "../../base/format";
import type { Palette } from "../../base/palette";
import { span } from "../../base/time";
import type { EventRef, Gap } from "../../source/protocol";
import type { Timeline } from "../timeline";
import { EventLink } from "./event-link";
import { Fact, TrackName } from "./fact";
import { IconButton } from "./icons";

interface Props {
  readonly timeline: Timeline;
  readonly palette: Palette;
  readonly gap: Gap;
}

/** Explains an idle time of a stream: the cause, and the host's work meanwhile. */
export function GapPanel({ timeline, palette, gap }: Props): JSX.Element {
  const place = span(gap.start, gap.start + gap.dur);
  const sumUp = () => timeline.mark(place, true, gap.part);
  return (
    <div class="ks-gap">
      <h3>
        <span class="ks-event-name">idle {formatDuration(gap.dur)}</span>
        <IconButton icon="focus" label="Zoom to it (f)" onClick={() => timeline.showGap(gap)} />
        <button type="button" class="ks-button" title="Summarize all tracks during this time (r)" onClick={sumUp}>
          Summarize
        </button>
      </h3>
      <p>{gap.why}.</p>
      <div class="ks-columns">
        <Facts timeline={timeline} gap={gap} />
        <Ends timeline={timeline} palette={palette} gap={gap} />
        <Host timeline={timeline} palette={palette} gap={gap} />
      </div>
    </div>
  );
}

function Facts({ timeline, gap }: { timeline: Timeline; gap: Gap }): JSX.Element {
  const elsewhere =
    gap.elsewhere > 0
      ? `busy for ${formatDuration(gap.elsewhere)} · ${formatShare(gap.elsewhere, gap.dur)}`
      : "idle, too";
  return (
    <dl class="ks-column ks-facts">
      <Fact name="duration">
        <b>{formatExact(gap.dur)}</b>
      </Fact>
      <Fact name="start">{formatExact(gap.start)}</Fact>
      {timeline.overview.parts.length > 1 && <Fact name="trace">{timeline.partName(gap.part)}</Fact>}
      <Fact name="track">
        <TrackName timeline={timeline} track={gap.track} />
      </Fact>
      {gap.category !== null && <Fact name="category">{gap.category}</Fact>}
      <Fact name="other streams">{elsewhere}</Fact>
    </dl>
  );
}

/** Events before and after the idle time, and the causes of the one after it. */
function Ends({ timeline, palette, gap }: Props): JSX.Element {
  const line = (role: string, event: EventRef | null) =>
    event && (
      <div key={`${role}${event.id}`}>
        <dt>{role}</dt>
        <dd>
          <EventLink timeline={timeline} palette={palette} event={event} />
        </dd>
      </div>
    );
  return (
    <div class="ks-column">
      <dl class="ks-chain">
        {line("before", gap.before)}
        {line("after", gap.after)}
        {line("launched by", gap.launch)}
        {gap.waited_for.map((event) => line("waited for", event))}
      </dl>
    </div>
  );
}

/** Work of a host thread meanwhile, by name. */
function Host({ timeline, palette, gap }: Props): JSX.Element | null {
  if (!gap.host) return null;
  const { names, num_names: all, track } = gap.host;
  return (
    <div class="ks-column ks-wide">
      <h4>
        meanwhile on <TrackName timeline={timeline} track={track} />
        {names.length < all && `: longest ${names.length} of ${formatCount(all)} names`}
      </h4>
      <table class="ks-table ks-host">
        <thead>
          <tr>
            <th>name</th>
            <th>events</th>
            <th>self time</th>
            <th>share</th>
          </tr>
        </thead>
        <tbody>
          {names.map(({ event, count, self }) => (
            <tr key={event.id}>
              <td>
                <EventLink timeline={timeline} palette={palette} event={event} />
              </td>
              <td>{formatCount(count)}</td>
              <td>{formatDuration(self)}</td>
              <td>{formatShare(self, gap.dur)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
