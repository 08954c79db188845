import type { JSX } from "preact";
import { formatDuration } from "../../base/format";
import { kindColor, type Palette } from "../../base/palette";
import type { EventRef } from "../../source/protocol";
import type { Timeline } from "../timeline";
import { Cut } from "./cut";

interface Props {
  readonly timeline: Timeline;
  readonly palette: Palette;
  readonly event: EventRef;
  /** Replaces the default action, which is to go to the event. */
  readonly visit?: () => void;
}

/** A link to an event. */
export function EventLink({ timeline, palette, event, visit }: Props): JSX.Element {
  return (
    <button
      type="button"
      class="ks-link"
      title={`${event.name}\n${event.kind}, ${formatDuration(event.dur)}`}
      onClick={visit ?? (() => timeline.visit(event))}
    >
      <i style={{ background: kindColor(palette, event.kind) }} />
      <Cut text={event.label} />
      <small>{formatDuration(event.dur)}</small>
    </button>
  );
}
