/** What may be asked of the core and what it answers; the table in ARCHITECTURE.md, in types. */
import type { Labels } from "../base/labels";
import type { Kind } from "../base/palette";
import type { Duration, Span, Time } from "../base/time";

/** An event's position in `traceEvents`. */
export type EventId = number;

export interface EventRef {
  readonly id: EventId;
  readonly name: string;
  /** What tells it from others, where there is no room for all of the name. */
  readonly label: string;
  readonly kind: Kind;
  readonly track: number;
  readonly lane: number;
  readonly start: Time;
  readonly dur: Duration;
}

/** How the times of several traces are laid over each other: by their clocks, unless something else is said. */
export type Align = "clocks" | "recorded" | "start" | { readonly iteration: number };

/** How the core is to lay traces out for the screen. What is missing is as it comes. */
export interface Setup {
  readonly align?: Align | undefined;
  /** Whether functions of Python are shown. */
  readonly frames?: boolean | undefined;
}

/** One of the traces on the screen. */
export interface Part {
  readonly part: number;
  readonly name: string;
  readonly rank: number | null;
  /** Which of the traces of its rank it is, from 0. */
  readonly window: number;
  readonly title: string;
  /** To be taken off the screen's ids of its events. */
  readonly first_id: number;
  readonly num_events: number;
  /** An exact integer, as text: its own time where the screen's begins. */
  readonly origin_ns: string;
  readonly iterations: readonly Iteration[];
}

/** Processes and devices; of several traces each has a group around its own. */
export interface Group {
  readonly group: number;
  readonly parent: number | null;
  readonly part: number;
  readonly kind: "trace" | "host" | "device";
  readonly name: string;
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
}

/** A defect survived. */
export interface Defect {
  readonly kind: string;
  readonly message: string;
  readonly count: number;
  /** Where it was met first. */
  readonly first: string;
  readonly part: number;
}

export interface Overview {
  /** An exact integer, as text. */
  readonly origin_ns: string;
  readonly duration: Duration;
  /** What the traces were trimmed to, where they are parts of recordings. */
  readonly trimmed?: Span;
  readonly num_events: number;
  /** Of the Execution Traces. */
  readonly num_nodes: number;
  /** Functions of Python among them, shown or not. */
  readonly num_frames: number;
  readonly title: string;
  readonly parts: readonly Part[];
  readonly device_names: readonly string[];
  readonly groups: readonly Group[];
  readonly tracks: readonly Track[];
  readonly iterations: readonly Iteration[];
  /** The names of the codes in `Tiles.kind`. */
  readonly kinds: readonly Kind[];
  readonly health: readonly Defect[];
  readonly coverage: Coverage;
}

/** How many there are, and how many of them are linked. */
export interface Share {
  readonly count: number;
  readonly num_linked: number;
}

/** How much could be linked, and how much was. */
export interface Coverage {
  readonly nodes: Share;
  readonly operators: Share;
  /** With their launch. */
  readonly device_events: Share;
  /** With their operator. */
  readonly device_owners: Share;
}

/** Rectangles, one per row: what runs parallel here is one table. */
export interface Tiles {
  readonly names: readonly string[];
  /** What bars say that have no room for all of the name; null where that is the name. */
  readonly labels: readonly (string | null)[];
  readonly lane: Uint32Array;
  readonly start: Float64Array;
  readonly dur: Float64Array;
  readonly kind: Uint8Array;
  /** The event, or the longest of a merged group. */
  readonly id: Uint32Array;
  /** 1 says that the rectangle is one event, exactly. */
  readonly count: Uint32Array;
  /** Index into `names`. */
  readonly name: Uint32Array;
  /** What they are for, where that was asked: texts, of which the first is nothing, and an index into them. */
  readonly owners: readonly string[] | null;
  readonly owner: Uint32Array | null;
}

/** What rectangles may be told to be for. */
export type Owner = "operator" | "module";

/** Where events lie: those of a lane in the order of time. */
export interface Marks {
  readonly id: Uint32Array;
  readonly track: Uint32Array;
  readonly lane: Uint32Array;
  readonly start: Float64Array;
  readonly dur: Float64Array;
}

/** Some of the hits, in the order of time. */
export interface Hits extends Marks {
  /** All of them, also those that are not here. */
  readonly count: number;
  /** Others, which are not on the screen: functions of Python that are hidden. */
  readonly num_hidden: number;
  /** The place of the first one here among all. */
  readonly first: number;
  /** What names of hits hold, in lower case, where that is all that was asked for. */
  readonly name: string | null;
}

/** An input or an output; texts are empty where the file has none. */
export interface NodeValue {
  readonly type: string;
  readonly shape: string;
  readonly stride: string;
  readonly value: string;
}

/** A vertex of the Execution Trace. */
export interface TraceNode {
  /** The event that it stands for: the one asked about, or the operator that owns it. */
  readonly event: EventRef;
  readonly node_id: number;
  readonly name: string;
  readonly schema: string;
  readonly inputs: readonly NodeValue[];
  readonly outputs: readonly NodeValue[];
}

export interface EventDetails extends EventRef {
  readonly part: number;
  /** Whether it is on the screen as that is set up. */
  readonly is_shown: boolean;
  readonly category: string;
  readonly start_ns: string;
  readonly dur_ns: string;
  readonly self_ns: string;
  readonly iteration: number | null;
  /** Key and JSON text. */
  readonly args: readonly (readonly [string, string])[];
  /** Innermost first. */
  readonly owners: readonly EventRef[];
  readonly num_children: number;
  readonly launch: EventRef | null;
  /** Why there is none, of device work; null of all else. */
  readonly unlaunched: string | null;
  /** When the stream had nothing to do right before device work. */
  readonly idle_before: Pick<Gap, "start" | "dur"> | null;
  /** What it launched, or what was launched inside of it: the first hundred. */
  readonly device_events: readonly EventRef[];
  readonly num_device_events: number;
  /** How long all of them took together, in nanoseconds. */
  readonly launched_ns: string;
  readonly operator: EventRef | null;
  readonly node: TraceNode | null;
  /** The modules it is for, innermost first. */
  readonly modules: readonly EventRef[];
  /** The line of Python it is for. */
  readonly frame: EventRef | null;
  readonly annotation: EventRef | null;
  readonly partners: readonly Partner[];
}

/** An operator of the other pass; `of` is the one of this pass. */
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
  readonly kind: Kind;
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
  readonly device_total_ns: number;
  readonly device_self_ns: number;
  readonly longest_id: EventId;
}

export interface KernelTime {
  readonly name: string;
  readonly kind: Kind;
  readonly count: number;
  readonly total_ns: number;
  readonly mean_ns: number;
  readonly max_ns: number;
  /** Of all device work. */
  readonly share: number;
  readonly longest_id: EventId;
}

export interface DeviceTime {
  readonly device: number | null;
  readonly name: string;
  readonly busy_ns: number;
  readonly busy_share: number;
  readonly num_events: number;
}

/** What happened in a stretch of time; operators and kernels are the first of `num_…`. */
export interface Summary {
  readonly num_events: number;
  readonly devices: readonly DeviceTime[];
  readonly time_by_kind: readonly KindTime[];
  readonly operators: readonly OperatorTime[];
  readonly num_operators: number;
  readonly kernels: readonly KernelTime[];
  readonly num_kernels: number;
  /** Of operators and kernels. */
  readonly labels: Labels;
}

/** Something that slows the run down. */
export interface Finding {
  readonly part: number;
  readonly finding: string;
  readonly subject: string;
  /** Of the subject. */
  readonly label: string;
  readonly detail: string;
  readonly advice: string;
  readonly cost_ns: number;
  readonly share: number;
  readonly count: number;
  readonly confidence: number;
  /** Of its evidence; null where it has none. */
  readonly start: Time | null;
  readonly end: Time | null;
  /** The costliest first. */
  readonly evidence: readonly EventRef[];
}

export type Cell = string | number | boolean | null;

export interface AnswerColumn {
  readonly name: string;
  readonly unit: "ns" | "bytes" | "GB/s" | null;
  /** Whether its values are events, or times by the clock of the row's part. */
  readonly role: "event" | "time" | null;
}

export interface AnswerTable {
  readonly name: string;
  readonly doc: string;
  readonly num_rows: number;
  readonly columns: readonly AnswerColumn[];
  readonly rows: readonly (readonly Cell[])[];
  /** The part of each row; null where all are of the only one. */
  readonly parts: readonly (number | null)[] | null;
  /** Of the texts in the rows. */
  readonly labels: Labels;
}

/** What an analysis says. */
export interface AnalysisAnswer {
  readonly name: string;
  readonly doc: string;
  readonly reason: string | null;
  readonly tables: readonly AnswerTable[];
}

/** The column that the rows of a table are to be in the order of. */
export interface Order {
  readonly table: string;
  readonly column: string;
  readonly descends: boolean;
}

/** What may be asked for by `analyze`. */
export interface AnalysisName {
  readonly name: string;
  readonly doc: string;
}

export interface BoundShare {
  /** Null of a path through all of them. */
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

/** The critical path, a step a row: on one lane, or from one lane to another. */
export interface PathSteps {
  /** The names of the codes in `bound`. */
  readonly bounds: readonly string[];
  readonly shares: readonly BoundShare[];
  /** What of a path through all traces is on each. */
  readonly ranks: readonly PathShare[];
  readonly track: Uint32Array;
  readonly lane: Uint32Array;
  readonly start: Float64Array;
  readonly end_track: Uint32Array;
  readonly end_lane: Uint32Array;
  readonly end: Float64Array;
  readonly bound: Uint8Array;
}

/** A number over time. */
export interface Counter {
  readonly counter: number;
  readonly part: number;
  readonly group: number;
  readonly name: string;
  readonly unit: "bytes" | "share" | "count" | null;
  readonly least: number;
  readonly greatest: number;
}

/** A value from each `start` on: how far it went within a pixel, and where it stayed. */
export interface CounterSteps {
  readonly start: Float64Array;
  readonly least: Float64Array;
  readonly greatest: Float64Array;
  readonly last: Float64Array;
  /** Where the trace ends, and with it the last value. */
  readonly until: Time;
}

/** A name whose time for an iteration differs between the first part and the second. */
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

/** A time in which a stream had nothing to do. */
export interface Gap {
  readonly part: number;
  readonly track: number;
  readonly start: Time;
  readonly dur: Duration;
  /** Null where no more work came. */
  readonly category: "host_wait" | "kernel_wait" | "other" | null;
  readonly why: string;
  /** How long other streams of the device worked meanwhile. */
  readonly elsewhere: Duration;
  readonly before: EventRef | null;
  readonly after: EventRef | null;
  readonly launch: EventRef | null;
  readonly waited_for: readonly EventRef[];
  /** What a thread did meanwhile, by names, the longest first. */
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
      /** Of each trace, what it was trimmed to; all of one that is whole. */
      trimmed?: boolean;
      limit?: number;
      order?: Order | null;
      options?: object;
    };
    answer: AnalysisAnswer;
  };
  findings: { ask: object; answer: { readonly findings: readonly Finding[] } };
  path: { ask: { start: number; end: number; pixels: number; through_job?: boolean }; answer: PathSteps };
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
