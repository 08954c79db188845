import type { ComponentChildren, JSX } from "preact";
import type { Timeline } from "../timeline";

interface Props {
  readonly name: string;
  readonly title?: string;
  readonly children: ComponentChildren;
}

/** A row of facts: a term and its value. */
export function Fact({ name, title, children }: Props): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd title={title}>{children}</dd>
    </div>
  );
}

/** A track's name with its group. */
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
