/** Options of a flame graph. */
export interface FlameOptions {
  readonly by?: "chain" | "stack" | "module" | "operator" | undefined;
  readonly weight?: "device_ns" | "host_ns" | "self_ns" | "calls" | "allocated_bytes" | "flops" | "idle_ns" | undefined;
  readonly order?: "merged" | "time" | undefined;
  /** Name of the frames that the graph begins with. */
  readonly focus?: string | undefined;
  readonly direction?: "callees" | "callers" | undefined;
  /** Whether modules of a class are one frame. */
  readonly classes?: boolean | undefined;
  readonly program_only?: boolean | undefined;
}

/** Frames of a flame graph as parallel columns; each comes before the frames inside it. */
export interface FlameFrames {
  readonly part: number;
  /** Why there are no frames; null where there are some. */
  readonly reason: string | null;
  readonly weight_name: NonNullable<FlameOptions["weight"]>;
  readonly unit: "ns" | "bytes" | "calls" | "flops";
  /** Weight of all frames. */
  readonly total: number;
  readonly unattributed?: number;
  /** Calls whose weight is not known. */
  readonly num_unknown?: number;
  readonly names: readonly string[];
  /** Short labels, parallel to `names`; null where the name is its own label. */
  readonly labels: readonly (string | null)[];
  readonly kinds: readonly string[];
  readonly start: Float64Array;
  readonly weight: Float64Array;
  readonly self?: Float64Array;
  readonly count?: Float64Array;
  /** Weight less the weight in the part compared with; `weight` is their sum. */
  readonly change?: Float64Array;
  readonly depth: Uint32Array;
  /** Index into `names`. */
  readonly name: Uint32Array;
  /** The call of the most weight; 2³² − 1 for frames without an event. */
  readonly id: Uint32Array;
  /** The same of the part compared with. */
  readonly before_id?: Uint32Array;
  /** Index into `kinds`. */
  readonly kind: Uint8Array;
  /** 1 for Python frames of installed packages and of PyTorch. */
  readonly library?: Uint8Array;
}
