import type { ComponentChildren, JSX } from "preact";
import type { Timeline } from "../timeline";

interface Props {
  readonly name: string;
  readonly title?: string;
  readonly children: ComponentChildren;
}

/** A line of what is known: a term and what it is. */
export function Fact({ name, title, children }: Props): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd title={title}>{children}</dd>
    </div>
  );
}

/** What a track is called, and whose it is. */
export function TrackName({ timeline, track }: { timeline: Timeline; track: number }): JSX.Element {
  const { overview } = timeline;
  const own = overview.tracks.find((t) => t.track === track);
  const group = overview.groups.find((g) => g.group === own?.group);
  return (
    <>
      {own?.name} <small>{group?.name}</small>
    </>
  );
}
