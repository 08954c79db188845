import type { ComponentChildren, JSX } from "preact";
import { formatDuration, formatPlural } from "../../base/format";
import type { Palette } from "../../base/palette";
import type { EventDetails, EventRef } from "../../source/protocol";
import type { Selected } from "../selection";
import type { Timeline } from "../timeline";
import { EventLink } from "./event-link";

interface Props {
  readonly timeline: Timeline;
  readonly palette: Palette;
  readonly selected: Selected;
}

/** Events that the selection belongs to, the nearest first. Enclosing events are folded. */
export function Relations({ timeline, palette, selected }: Props): JSX.Element | null {
  const { details } = selected;
  const link = (event: EventRef) => <EventLink key={event.id} timeline={timeline} palette={palette} event={event} />;
  const lines = linesOf(timeline, selected);
  const device = details.device_events;
  const around = details.owners.filter((owner) => owner.id !== details.launch?.id);
  const { unlaunched } = details;
  if (lines.length + device.length + around.length === 0 && !unlaunched) return null;
  return (
    <div class="ks-column ks-relations">
      {(lines.length > 0 || unlaunched) && (
        <dl class="ks-chain">
          {unlaunched && (
            <div>
              <dt>launched by</dt>
              <dd class="ks-note">unknown: {unlaunched}</dd>
            </div>
          )}
          {lines.map(({ role, event }) => (
            <div key={`${role}${event.id}`}>
              <dt>{role}</dt>
              <dd>{link(event)}</dd>
            </div>
          ))}
        </dl>
      )}
      {device.length > 0 && (
        <Part title={deviceTitle(details)} open={device.length <= 8}>
          {device.map(link)}
        </Part>
      )}
      {around.length > 0 && (
        <Part title={`${details.launch ? "launched inside" : "inside"} ${formatPlural(around.length, "event")}`}>
          {around.map(link)}
        </Part>
      )}
    </div>
  );
}

interface Line {
  readonly role: string;
  readonly event: EventRef;
}

export function linesOf(timeline: Timeline, { details, links }: Selected): readonly Line[] {
  const module = details.modules.map((event, index) => ({ role: index === 0 ? "module" : "inside", event }));
  const partners = details.partners.map(({ role, event }) => ({ role, event }));
  const others = links.filter((link) => link.kind === "collective");
  const ranks = others.map(({ target }) => ({ role: rankOf(timeline, target), event: target }));
  const waits = links.filter((link) => link.kind === "sync");
  const waited = waits.map(({ source, target }) =>
    // The link goes from the event that ended to the event that could then continue.
    source.id === details.id ? { role: "awaited by", event: target } : { role: "waits for", event: source },
  );
  const of = (role: string, event: EventRef | null) => (event && event.id !== details.id ? [{ role, event }] : []);
  const line = of(lineLabel(details), details.frame);
  const isOwn = !isOfLibrary(details);
  return [
    // The line that the reader can change comes first.
    ...(isOwn ? line : []),
    ...of(details.counterpart?.role ?? "", details.counterpart?.event ?? null),
    ...of("launched by", details.launch),
    ...of("operator", details.operator),
    ...module.slice(0, MOST_MODULES),
    ...(isOwn ? [] : line),
    ...partners,
    ...of("annotation", details.annotation),
    ...waited,
    ...ranks,
  ];
}

const MOST_MODULES = 4;

/** A stack without a line of the program has only lines of libraries. */
const isOfLibrary = ({ frame_origin: origin }: EventDetails): boolean => origin === "package" || origin === "framework";

const lineLabel = (details: EventDetails): string => (isOfLibrary(details) ? "Python line (library)" : "your code");

function rankOf(timeline: Timeline, { id }: EventRef): string {
  const part = timeline.overview.parts.findLast(({ first_id: first }) => first <= id);
  return part ? `on ${timeline.partName(part.part)}` : "on another rank";
}

function deviceTitle(details: EventDetails): string {
  const { device_events: listed, num_device_events: all } = details;
  const shown = listed.length < all ? `; first ${listed.length} below` : "";
  return `on the device: ${formatPlural(all, "event")}, ${formatDuration(Number(details.launched_ns))}${shown}`;
}

interface PartProps {
  readonly title: string;
  readonly open?: boolean;
  readonly children: ComponentChildren;
}

function Part({ title, open = false, children }: PartProps): JSX.Element {
  return (
    <details class="ks-fold" open={open}>
      <summary>{title}</summary>
      <div class="ks-links">{children}</div>
    </details>
  );
}
