/**
 * Requests and answers of the core. tests/web/unit/protocol.test.ts compares them with the core.
 */
import type { Labels } from "../base/labels";
import type { Kind } from "../base/palette";
import type { Duration, Span, Time } from "../base/time";
import type { FlameFrames } from "./flame";
import type { AnalysisAnswer, AnalysisName, HitsAnswer, Order } from "./tables";
import type { Coverage, Verdict } from "./verdict";

/** An event's position in `traceEvents`. */
export type EventId = number;

export interface EventRef {
  readonly id: EventId;
  readonly name: string;
  /** A short form of the name that still identifies it. */
  readonly label: string;
  readonly kind: Kind;
  readonly track: number;
  readonly lane: number;
  readonly start: Time;
  readonly dur: Duration;
}

/** How the times of several traces are aligned; `clocks` is the default. */
export type Align = "clocks" | "recorded" | "start" | { readonly iteration: number };

/** Options of the screen that every request accepts. Missing fields have their default. */
export interface Setup {
  readonly align?: Align | undefined;
  /** Whether Python functions are shown; true by default. */
  readonly frames?: boolean | undefined;
}

/** One of the traces on the screen. */
export interface Part {
  readonly part: number;
  readonly name: string;
  readonly rank: number | null;
  /** Index among the traces of its rank, from 0. */
  readonly window: number;
  readonly title: string;
  /** Subtract it from an event's id on the screen to get the id in the trace. */
  readonly first_id: number;
  readonly num_events: number;
  /** An exact integer as text: this trace's own time at the start of the screen. */
  readonly origin_ns: string;
  readonly iterations: readonly Iteration[];
  /** How it was placed, if it is the trace of another tool beside that of a rank. */
  readonly companion?: Companion;
}

export interface Companion {
  readonly tool: string;
  readonly align: string;
  readonly offset_ns: number;
  readonly spread_ns: number | null;
}

/** A process or device. With several traces, each trace is a group around its own. */
export interface Group {
  readonly group: number;
  readonly parent: number | null;
  readonly part: number;
  readonly kind: "trace" | "host" | "device";
  readonly name: string;
  /** Set where all tracks are the profiler's own. */
  readonly is_aside?: boolean;
}

export interface Track {
  readonly track: number;
  readonly group: number;
  readonly kind: "thread" | "stream";
  readonly name: string;
  readonly num_lanes: number;
  readonly num_events: number;
}

export interface Iteration {
  readonly iteration: number;
  readonly name: string;
  readonly start: Time;
  readonly dur: Duration;
  /** Phase of a serving engine, such as `decode`. */
  readonly phase?: string | null;
}

/** A defect that the reader survived. */
export interface Defect {
  readonly kind: string;
  readonly message: string;
  readonly count: number;
  /** Place of the first occurrence. */
  readonly first: string;
  readonly part: number;
}

export interface Overview {
  /** An exact integer as text. */
  readonly origin_ns: string;
  readonly duration: Duration;
  /** The range of a trimmed recording; absent for whole ones. */
  readonly trimmed?: Span;
  /** The range that reports are about, without the observed iteration; absent where it is all. */
  readonly reported?: Span;
  readonly num_events: number;
  /** Nodes of the Execution Traces. */
  readonly num_nodes: number;
  /** Python functions among the events, shown or not. */
  readonly num_frames: number;
  readonly title: string;
  readonly parts: readonly Part[];
  /** The part of the median iteration; null where the parts are no ranks of a job. */
  readonly typical_part: number | null;
  readonly device_names: readonly string[];
  readonly groups: readonly Group[];
  readonly tracks: readonly Track[];
  readonly iterations: readonly Iteration[];
  /** Names of the codes in `Tiles.kind`. */
  readonly kinds: readonly Kind[];
  readonly verdict: Verdict;
  readonly health: readonly Defect[];
  readonly coverage: Coverage;
}

/** Rectangles, one per row, as parallel columns. */
export interface Tiles {
  readonly names: readonly string[];
  /** Short labels, parallel to `names`; null where the name is its own label. */
  readonly labels: readonly (string | null)[];
  readonly lane: Uint32Array;
  readonly start: Float64Array;
  readonly dur: Float64Array;
  readonly kind: Uint8Array;
  /** The event, or the longest event of a merged group. */
  readonly id: Uint32Array;
  /** Number of events; 1 means that the rectangle is exactly one event. */
  readonly count: Uint32Array;
  /** Index into `names`. */
  readonly name: Uint32Array;
  /**
   * Operators or modules, where the request asked for them; `owner` is an index into `owners`,
   * whose first text is empty.
   */
  readonly owners: readonly string[] | null;
  readonly owner: Uint32Array | null;
}

/** Owners that tiles may be coloured by. */
export type Owner = "operator" | "module";

/** Positions of events; those of a lane are in the order of time. */
export interface Marks {
  readonly id: Uint32Array;
  readonly track: Uint32Array;
  readonly lane: Uint32Array;
  readonly start: Float64Array;
  readonly dur: Float64Array;
}

/** Some of the hits of a search, in the order of time. */
export interface Hits extends Marks {
  /** All hits, including those that are not in this answer. */
  readonly count: number;
  /** Further hits among hidden Python functions. */
  readonly num_hidden: number;
  /** Position of this answer's first hit among all hits. */
  readonly first: number;
  /** The searched part of the name in lower case, where the search is by name alone. */
  readonly name: string | null;
}

/** An input or an output of a node. Texts are empty where the file has none. */
export interface NodeValue {
  readonly type: string;
  readonly shape: string;
  readonly stride: string;
  readonly value: string;
}

/** A node of the Execution Trace. */
export interface TraceNode {
  /** The node's own event: the requested one, or the operator that owns it. */
  readonly event: EventRef;
  readonly node_id: number;
  readonly name: string;
  readonly schema: string;
  readonly inputs: readonly NodeValue[];
  readonly outputs: readonly NodeValue[];
}

export interface EventDetails extends EventRef {
  readonly part: number;
  /** Whether the screen's options show the event. */
  readonly is_shown: boolean;
  readonly category: string;
  readonly start_ns: string;
  readonly dur_ns: string;
  readonly self_ns: string;
  /** The duration in the file, if it is impossible and `dur_ns` is shorter. */
  readonly recorded_dur_ns: string | null;
  readonly iteration: number | null;
  /** Key and JSON text of each argument. */
  readonly args: readonly (readonly [string, string])[];
  /** Enclosing events, innermost first. */
  readonly owners: readonly EventRef[];
  readonly num_children: number;
  readonly launch: EventRef | null;
  /** Why a device event has no launch; null for other events. */
  readonly unlaunched: string | null;
  /** The idle time of the stream right before a device event. */
  readonly idle_before: Pick<Gap, "start" | "dur"> | null;
  /** Device events launched by the event or inside it; at most 100. */
  readonly device_events: readonly EventRef[];
  readonly num_device_events: number;
  /** The same event of the other one of two compared traces; null where there is none. */
  readonly counterpart: { readonly role: "before" | "after"; readonly event: EventRef } | null;
  /** Total device time launched, in nanoseconds. */
  readonly launched_ns: string;
  readonly operator: EventRef | null;
  readonly node: TraceNode | null;
  /** Modules around the event, innermost first. */
  readonly modules: readonly EventRef[];
  /** The line of Python that the event belongs to. */
  readonly frame: EventRef | null;
  /** Whether that line is one of the program, of an installed package, or of a framework. */
  readonly frame_origin: "program" | "package" | "framework" | null;
  readonly annotation: EventRef | null;
  readonly partners: readonly Partner[];
}

/** An operator of the other pass. `of` is the matching operator of this pass. */
export interface Partner {
  readonly role: "forward" | "backward";
  readonly of: EventRef;
  readonly event: EventRef;
}

export interface Link {
  readonly kind: string;
  readonly how: string;
  readonly confidence: number;
  readonly source: EventRef;
  readonly target: EventRef;
}

export interface KindTime {
  /** `wait` for calls in which the host waits for a device. */
  readonly kind: Kind | "wait";
  readonly count: number;
  /** Counts nested time more than once. */
  readonly total_ns: number;
  readonly self_ns: number;
}

export interface OperatorTime {
  readonly name: string;
  readonly count: number;
  readonly total_ns: number;
  readonly self_ns: number;
  /** Null where all of the device work was lost. */
  readonly device_total_ns: number | null;
  readonly device_self_ns: number | null;
  readonly longest_id: EventId;
}

export interface KernelTime {
  readonly name: string;
  readonly kind: Kind;
  readonly count: number;
  readonly total_ns: number;
  readonly mean_ns: number;
  readonly max_ns: number;
  /** Share of all device time. */
  readonly share: number;
  readonly longest_id: EventId;
}

export interface DeviceTime {
  readonly device: number | null;
  readonly name: string;
  readonly busy_ns: number;
  readonly busy_share: number;
  /** Time in which lost work may have run. */
  readonly unknown_share: number;
  readonly num_events: number;
}

/** Summary of a time range. Lists hold the first of `num_…` rows. */
export interface Summary {
  readonly num_events: number;
  readonly devices: readonly DeviceTime[];
  readonly time_by_kind: readonly KindTime[];
  readonly operators: readonly OperatorTime[];
  readonly num_operators: number;
  readonly kernels: readonly KernelTime[];
  readonly num_kernels: number;
  /** Short labels of operators and kernels. */
  readonly labels: Labels;
}

/** A bottleneck. */
export interface Finding {
  readonly part: number;
  readonly finding: string;
  readonly subject: string;
  /** Short label of the subject. */
  readonly label: string;
  readonly detail: string;
  readonly advice: string;
  readonly cost_ns: number;
  readonly share: number;
  /** The part of the cost that other findings of the trace count, too; null where unknown. */
  readonly overlap_ns: number | null;
  readonly count: number;
  readonly confidence: number;
  /** Start of the evidence; null without evidence. */
  readonly start: Time | null;
  readonly end: Time | null;
  /** Events, sorted by cost. */
  readonly evidence: readonly EventRef[];
}

export interface BoundShare {
  /** Null for a path through all traces. */
  readonly part: number | null;
  readonly bound: string;
  readonly total_ns: number;
  readonly share: number;
}

export interface PathShare {
  readonly part: number;
  readonly total_ns: number;
  readonly share: number;
}

/** The critical path: each step is on one lane, or goes from one lane to another. */
export interface PathSteps {
  /** Names of the codes in `bound`. */
  readonly bounds: readonly string[];
  readonly shares: readonly BoundShare[];
  /** Each trace's share of a path through all traces. */
  readonly ranks: readonly PathShare[];
  readonly track: Uint32Array;
  readonly lane: Uint32Array;
  readonly start: Float64Array;
  readonly end_track: Uint32Array;
  readonly end_lane: Uint32Array;
  readonly end: Float64Array;
  readonly bound: Uint8Array;
}

/** A numeric value over time. */
export interface Counter {
  readonly counter: number;
  readonly part: number;
  readonly group: number;
  readonly name: string;
  readonly unit: "bytes" | "share" | "count" | null;
  readonly least: number;
  readonly greatest: number;
}

/** A value from each `start` on: its extremes within the pixel, and its last value. */
export interface CounterSteps {
  readonly start: Float64Array;
  readonly least: Float64Array;
  readonly greatest: Float64Array;
  readonly last: Float64Array;
  /** End of the trace and of the last value. */
  readonly until: Time;
}

/**
 * An operator or kernel whose time per iteration differs between the first and the second trace.
 */
export interface Change {
  readonly name: string;
  readonly kind: "operator" | "kernel";
  readonly status: "both" | "added" | "removed";
  readonly before_ns: number;
  readonly after_ns: number;
  readonly before_count: number;
  readonly after_count: number;
  readonly before: EventId | null;
  readonly after: EventId | null;
}

/** An idle time of a stream. */
export interface Gap {
  readonly part: number;
  readonly track: number;
  readonly start: Time;
  readonly dur: Duration;
  /** Null where no more work came. */
  readonly category: "host_wait" | "kernel_wait" | "other" | null;
  readonly why: string;
  /** Busy time of the device's other streams meanwhile. */
  readonly elsewhere: Duration;
  readonly before: EventRef | null;
  readonly after: EventRef | null;
  readonly launch: EventRef | null;
  readonly waited_for: readonly EventRef[];
  /** Work of a host thread meanwhile, by name, the longest first. */
  readonly host: {
    readonly track: number;
    readonly names: readonly { readonly event: EventRef; readonly count: number; readonly self: Duration }[];
    readonly num_names: number;
  } | null;
}

export type Direction = "next" | "previous" | "parent" | "child";

export interface MaybeEvent {
  readonly event: EventRef | null;
}

interface Exchange {
  overview: { ask: object; answer: Overview };
  tiles: {
    ask: { tracks: readonly number[]; start: number; end: number; pixels: number; by?: Owner };
    answer: Tiles;
  };
  at: {
    ask: { track: number; lane: number; time: number; tolerance: number };
    answer: MaybeEvent;
  };
  gap: { ask: { track: number; time: number }; answer: { readonly gap: Gap | null } };
  event: { ask: { id: EventId }; answer: EventDetails };
  links: { ask: { id: EventId }; answer: { readonly links: readonly Link[] } };
  neighbour: { ask: { id: EventId; direction: Direction }; answer: MaybeEvent };
  search: { ask: { text: string; limit: number; from?: number; start?: number }; answer: Hits };
  marks: { ask: { text: string; start: number; end: number; pixels: number }; answer: Marks };
  analyses: { ask: object; answer: { readonly analyses: readonly AnalysisName[] } };
  analyze: {
    ask: {
      name: string;
      start?: number;
      end?: number;
      part?: number | null;
      /** Restricts each trace to its trimmed range; whole traces are not restricted. */
      trimmed?: boolean;
      limit?: number;
      order?: Order | null;
      options?: object;
    };
    answer: AnalysisAnswer;
  };
  compare: {
    ask: {
      /** Without ranges, the sides of the screen are compared: two traces, or two jobs. */
      start?: number;
      end?: number;
      other_start?: number;
      other_end?: number;
      part?: number;
      /** The selection of both sides of the screen. */
      options?: object;
      limit?: number;
      order?: Order | null;
    };
    answer: AnalysisAnswer;
  };
  hits: { ask: { text: string; limit?: number; order?: Order | null }; answer: HitsAnswer };
  findings: { ask: object; answer: { readonly findings: readonly Finding[] } };
  path: { ask: { start: number; end: number; pixels: number; through_job?: boolean }; answer: PathSteps };
  flame: {
    ask: {
      part?: number;
      start?: number;
      end?: number;
      iteration?: number | undefined;
      phase?: string | undefined;
      trimmed?: boolean;
      /** The trace to compare with: frames then have their change since that one. */
      against?: number | undefined;
      options?: object;
    };
    answer: FlameFrames;
  };
  counters: { ask: object; answer: { readonly counters: readonly Counter[] } };
  counter: { ask: { counter: number; start: number; end: number; pixels: number }; answer: CounterSteps };
  changes: { ask: object; answer: { readonly changes: readonly Change[] } };
  summary: { ask: { start?: number; end?: number; part?: number; findings?: boolean }; answer: Summary };
  report: {
    ask: { title: string; facts: readonly (readonly [string, string])[] };
    answer: { readonly html: string };
  };
}

export type RequestType = keyof Exchange;
export type Ask<T extends RequestType> = Exchange[T]["ask"] & Setup;
export type Answer<T extends RequestType> = Exchange[T]["answer"];
