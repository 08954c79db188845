import type { ComponentChildren, JSX } from "preact";
import { copyText } from "../../base/clipboard";
import { formatCount, formatDuration, formatExact, formatPlural, formatShare } from "../../base/format";
import { kindColor, type Palette } from "../../base/palette";
import type { EventDetails, EventRef } from "../../source/protocol";
import type { Selected } from "../selection";
import type { Timeline } from "../timeline";
import { ArgsTable } from "./args-table";
import { EventLink } from "./event-link";
import { Icon, IconButton } from "./icons";
import { NodeTable } from "./node-table";

interface Props {
  readonly timeline: Timeline;
  readonly palette: Palette;
  readonly selected: Selected;
}

/** All that is known about one event. */
export function EventPanel({ timeline, palette, selected }: Props): JSX.Element {
  const { details } = selected;
  return (
    <div class="ks-event">
      <h3>
        <i style={{ background: kindColor(palette, details.kind) }} />
        <span class="ks-event-name">{details.name}</span>
        <IconButton icon="focus" label="Fill the screen with it (f f)" onClick={() => timeline.showEvent(details)} />
        <CopyButton label="Copy the name" text={details.name} />
      </h3>
      <div class="ks-columns">
        <Facts timeline={timeline} details={details} />
        <Relations timeline={timeline} palette={palette} details={details} />
        <div class="ks-column ks-wide">
          {details.node && <NodeTable node={details.node} />}
          <ArgsTable args={details.args} />
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
  const track = timeline.overview.tracks.find((t) => t.track === details.track);
  const group = timeline.overview.groups.find((g) => g.group === track?.group);
  const self = Number(details.self_ns);
  return (
    <dl class="ks-column ks-facts">
      <Fact name="duration" title={`${details.dur_ns} ns`}>
        <b>{formatExact(details.dur)}</b>
      </Fact>
      {self !== details.dur && (
        <Fact name="self time" title={`${details.self_ns} ns`}>
          {formatExact(self)} <small>{formatShare(self, details.dur)}</small>
        </Fact>
      )}
      <Fact name="start" title={`${details.start_ns} ns`}>
        {formatExact(details.start)}
      </Fact>
      <Fact name="kind">{details.kind}</Fact>
      <Fact name="category">{details.category}</Fact>
      <Fact name="track">
        {track?.name} <small>{group?.name}</small>
      </Fact>
      {details.iteration !== null && <Fact name="iteration">{details.iteration}</Fact>}
      {details.num_children > 0 && <Fact name="events inside">{formatCount(details.num_children)}</Fact>}
      <Fact name="id" title="position in traceEvents">
        {details.id}
      </Fact>
    </dl>
  );
}

interface FactProps {
  readonly name: string;
  readonly title?: string;
  readonly children: ComponentChildren;
}

function Fact({ name, title, children }: FactProps): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd title={title}>{children}</dd>
    </div>
  );
}

interface RelationsProps {
  readonly timeline: Timeline;
  readonly palette: Palette;
  readonly details: EventDetails;
}

function Relations({ timeline, palette, details }: RelationsProps): JSX.Element | null {
  const { launch, device_events: device } = details;
  const around = details.owners.filter((owner) => owner.id !== launch?.id);
  // It is the nearest operator of `around`, unless only an id in the file names it.
  const operator = around.some((owner) => owner.id === details.operator?.id) ? null : details.operator;
  const link = (event: EventRef) => <EventLink key={event.id} timeline={timeline} palette={palette} event={event} />;
  if (!launch && !operator && device.length === 0 && around.length === 0) return null;
  return (
    <div class="ks-column ks-relations">
      {launch && <Part title="launched by">{link(launch)}</Part>}
      {operator && <Part title="operator">{link(operator)}</Part>}
      {device.length > 0 && <Part title={deviceTitle(details)}>{device.map(link)}</Part>}
      {around.length > 0 && <Part title={launch ? "from inside of" : "inside of"}>{around.map(link)}</Part>}
    </div>
  );
}

function deviceTitle({ device_events: listed, num_device_events: all }: EventDetails): string {
  const time = formatDuration(listed.reduce((sum, event) => sum + event.dur, 0));
  const shown = listed.length < all ? `, the first ${listed.length} of them` : "";
  return `on the device: ${formatPlural(all, "event")}${shown}, ${time}`;
}

function Part({ title, children }: { title: string; children: ComponentChildren }): JSX.Element {
  return (
    <>
      <h4>{title}</h4>
      <div class="ks-links">{children}</div>
    </>
  );
}
