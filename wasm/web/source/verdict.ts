import type { EventId } from "./protocol";

/** Whether a recording can be trusted, as the core says it. */
export type VerdictState = "complete" | "incomplete" | "inconsistent";

/** Something missing or impossible; of state `complete`, a remark. */
export interface Problem {
  readonly state: VerdictState;
  readonly message: string;
  /** Fix; may be empty. */
  readonly advice: string;
  readonly part: number;
  /** The first event that has it. */
  readonly event: EventId | null;
}

export interface Verdict {
  readonly state: VerdictState;
  readonly problems: readonly Problem[];
}

/** A count, and how many of it are linked. */
export interface Share {
  readonly count: number;
  readonly num_linked: number;
}

/** Link coverage of the traces. */
export interface Coverage {
  readonly nodes: Share;
  readonly operators: Share;
  /** Device events with their launch. */
  readonly device_events: Share;
  /** Device events with their operator. */
  readonly device_owners: Share;
}
