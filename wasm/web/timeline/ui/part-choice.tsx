import type { JSX } from "preact";
import type { Range } from "../range";
import type { Timeline } from "../timeline";

interface Props {
  readonly timeline: Timeline;
  readonly range: Range;
  /** Null for all traces. */
  readonly chosen: number | null;
  readonly hasAll?: boolean;
}

/** Chooses the trace that the range is about. */
export function PartChoice({ timeline, range, chosen, hasAll = false }: Props): JSX.Element | null {
  const { parts } = timeline.overview;
  if (parts.length < 2) return null;
  const choose = (value: string) => range.choosePart(value === "" ? null : Number(value));
  return (
    <label class="ks-which">
      Trace{" "}
      <select value={chosen ?? ""} onChange={(event) => choose(event.currentTarget.value)}>
        {hasAll && <option value="">all traces</option>}
        {parts.map(({ part }) => (
          <option key={part} value={part}>
            {timeline.partName(part) || `trace ${part + 1}`}
          </option>
        ))}
      </select>
    </label>
  );
}
