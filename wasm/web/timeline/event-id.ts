import type { Overview } from "../source/protocol";

interface PartEvent {
  readonly id: number;
  readonly part: number;
}

/** The id of an event in its own trace. On the screen, those of all traces differ. */
export const idInTrace = ({ parts }: Overview, { id, part }: PartEvent): number => id - (parts[part]?.first_id ?? 0);
