/** Whether a recording can be trusted, as the core says it. */
export type VerdictState = "complete" | "incomplete" | "inconsistent";

/** Something missing or impossible; of state `complete`, a remark. */
export interface Problem {
  readonly name: string;
  readonly state: VerdictState;
  readonly message: string;
  /** Fix; may be empty. */
  readonly advice: string;
  readonly part: number;
}

export interface Verdict {
  readonly state: VerdictState;
  readonly problems: readonly Problem[];
}
