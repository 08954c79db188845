import assert from "node:assert/strict";
import { mock } from "node:test";
import { asDuration, asTime } from "../../../wasm/web/base/time";
import type {
  Answer,
  Ask,
  Change,
  Counter,
  CounterSteps,
  EventDetails,
  EventRef,
  Finding,
  Gap,
  Overview,
  PathSteps,
  RequestType,
  Setup,
  Tiles,
} from "../../../wasm/web/source/protocol";
import type { Source } from "../../../wasm/web/source/source";

// The timeline limits its requests of a frame by their time. Here the clock stands still, so that a
// busy machine draws the same picture as an idle one.
mock.method(performance, "now", () => 0);

/**
 * One thread with `count` operators of 10 ns every 20 ns, and one stream whose kernels each start
 * 100 ns later.
 */
export class FakeSource implements Source {
  readonly asked: RequestType[] = [];
  readonly tileAsks: Ask<"tiles">[] = [];
  readonly summaryAsks: Ask<"summary">[] = [];
  readonly markAsks: Ask<"marks">[] = [];
  counters: readonly Counter[] = [];
  /** Steps of each counter. */
  steps = { start: [0], least: [0], greatest: [0], last: [0], until: 0 };
  findings: readonly Finding[] = [];
  changes: readonly Change[] = [];
  path: PathSteps = PATH;
  /** An event that only a screen with Python functions shows. */
  frame: number | null = null;
  readonly overview: Overview;
  numClosed = 0;
  readonly #events: readonly EventRef[];
  readonly #isLate: boolean;

  constructor({ count = 50, isLate = false, lanes = 1 } = {}) {
    this.#isLate = isLate;
    this.#events = [...eventsOf(count, "operator", 0), ...eventsOf(count, "kernel", 100)];
    this.overview = overviewOf(count, lanes);
  }

  query<T extends RequestType>(type: T, ask: Ask<T>): Answer<T> | Promise<Answer<T>> {
    this.asked.push(type);
    const answer = this.#answer(type, ask as never) as Answer<T>;
    return this.#isLate ? Promise.resolve(answer) : answer;
  }

  copy(): null {
    return null;
  }

  close(): void {
    this.numClosed++;
  }

  event(id: number): EventRef {
    const event = this.#events.find((e) => e.id === id);
    if (!event) throw new Error(`expected the id of an event, found ${id}`);
    return event;
  }

  #answer(type: RequestType, ask: never): unknown {
    const answers: Record<RequestType, () => unknown> = {
      overview: () => this.overview,
      flame: () => assert.fail("no test asks for it here"),
      tiles: () => this.#tiles(ask),
      at: () => ({ event: null }),
      gap: () => ({ gap: this.#gap(ask) }),
      event: () => this.#details(ask),
      links: () => ({ links: this.#links(ask) }),
      neighbour: () => this.#neighbour(ask),
      search: () => this.#search(ask),
      marks: () => this.#marks(ask),
      summary: () => this.#summary(ask),
      analyses: () => ({ analyses: ["kernels", "launches"].map((name) => ({ name, doc: name })) }),
      analyze: () => ({ name: (ask as Ask<"analyze">).name, doc: "", reason: null, tables: [] }),
      compare: () => ({ name: "compare", doc: "", reason: null, tables: [] }),
      hits: () => ({ count: 0, total_ns: 0, mean_ns: null, max_ns: null, tables: [] }),
      findings: () => ({ findings: this.findings }),
      path: () => this.path,
      counters: () => ({ counters: this.counters }),
      counter: () => stepsOf(this.steps),
      changes: () => ({ changes: this.changes }),
      report: () => ({ html: "" }),
    };
    return answers[type]();
  }

  #summary(ask: Ask<"summary">): object {
    this.summaryAsks.push(ask);
    return { num_events: this.#events.length, devices: [], time_by_kind: [], operators: [], kernels: [], labels: {} };
  }

  #tiles(ask: Ask<"tiles">): Tiles {
    this.tileAsks.push(ask);
    const { tracks, by } = ask;
    const events = this.#events.filter((event) => tracks.includes(event.track));
    return {
      names: ["operator", "kernel"],
      labels: [null, null],
      lane: Uint32Array.from(events, (event) => event.lane),
      start: Float64Array.from(events, (event) => event.start),
      dur: Float64Array.from(events, (event) => event.dur),
      kind: Uint8Array.from(events, (event) => (event.kind === "kernel" ? 2 : 0)),
      id: Uint32Array.from(events, (event) => event.id),
      count: new Uint32Array(events.length).fill(1),
      name: Uint32Array.from(events, (event) => event.track),
      owners: by ? ["", "aten::mm"] : null,
      owner: by ? Uint32Array.from(events, (event) => (event.kind === "kernel" ? 1 : 0)) : null,
    };
  }

  #details({ id, frames }: Ask<"event"> & Setup): EventDetails {
    const event = this.event(id);
    const none = { launch: null, unlaunched: null, idle_before: null, operator: null, node: null, iteration: null };
    return {
      ...event,
      ...none,
      part: 0,
      is_shown: id !== this.frame || frames !== false,
      category: "cpu_op",
      start_ns: String(event.start),
      dur_ns: "10",
      self_ns: "10",
      recorded_dur_ns: null,
      frame_origin: null,
      args: [],
      owners: [],
      num_children: 0,
      device_events: [],
      num_device_events: 0,
      counterpart: null,
      launched_ns: "0",
      modules: [],
      frame: null,
      annotation: null,
      partners: [],
    };
  }

  /** The 10 ns after each event. */
  #gap({ track, time }: Ask<"gap">): Gap | null {
    const start = time - (time % 10);
    if (start % 20 === 0) return null;
    const none = { before: null, after: null, launch: null, waited_for: [], host: null };
    return {
      ...none,
      part: 0,
      track,
      start: asTime(start),
      dur: asDuration(10),
      category: "other",
      why: "so",
      elsewhere: asDuration(0),
    };
  }

  #links({ id }: Ask<"links">): object[] {
    const count = this.#events.length / 2;
    const [source, target] = id < count ? [id, id + count] : [id - count, id];
    return [
      { kind: "launch", how: "correlation", confidence: 1, source: this.event(source), target: this.event(target) },
    ];
  }

  #neighbour({ id, direction }: Ask<"neighbour">): { event: EventRef | null } {
    const wanted = this.event(id).start + (direction === "next" ? 20 : -20);
    return { event: this.#events.find((e) => e.track === this.event(id).track && e.start === wanted) ?? null };
  }

  #search({ text, limit, from = 0, start }: Ask<"search">): object {
    const found = this.#events.filter((event) => event.name.includes(text));
    found.sort((a, b) => a.start - b.start);
    const first = Math.min(found.length, start === undefined ? from : found.filter((e) => e.start < start).length);
    return {
      count: found.length,
      num_hidden: 0,
      first,
      name: text.toLowerCase(),
      ...columnsOf(found.slice(first, first + limit)),
    };
  }

  #marks(ask: Ask<"marks">): object {
    this.markAsks.push(ask);
    const { text, start, end, pixels } = ask;
    const pixel = (event: EventRef) => Math.floor((event.start * pixels) / (end - start));
    const found = this.#events.filter((e) => e.name.includes(text) && e.start < end && e.start + e.dur >= start);
    const isFirst = (event: EventRef, at: number) => at === 0 || pixel(found[at - 1] as EventRef) !== pixel(event);
    return columnsOf(found.filter(isFirst));
  }
}

function columnsOf(some: readonly EventRef[]): object {
  return {
    id: Uint32Array.from(some, (event) => event.id),
    track: Uint32Array.from(some, (event) => event.track),
    lane: Uint32Array.from(some, (event) => event.lane),
    start: Float64Array.from(some, (event) => event.start),
    dur: Float64Array.from(some, (event) => event.dur),
  };
}

function stepsOf({ start, least, greatest, last, until }: FakeSource["steps"]): CounterSteps {
  const [starts, leasts, greatests, lasts] = [start, least, greatest, last].map((of) => Float64Array.from(of));
  return { start: starts, least: leasts, greatest: greatests, last: lasts, until: asTime(until) } as CounterSteps;
}

const PATH: PathSteps = {
  bounds: ["host", "compute"],
  shares: [{ part: 0, bound: "host", total_ns: 10, share: 1 }],
  ranks: [],
  track: Uint32Array.of(0),
  lane: Uint32Array.of(0),
  start: Float64Array.of(0),
  end_track: Uint32Array.of(1),
  end_lane: Uint32Array.of(0),
  end: Float64Array.of(100),
  bound: Uint8Array.of(0),
};

function eventsOf(count: number, kind: "operator" | "kernel", delay: number): EventRef[] {
  const track = kind === "kernel" ? 1 : 0;
  return Array.from({ length: count }, (_, i) => ({
    id: track * count + i,
    name: kind,
    label: kind,
    kind,
    track,
    lane: 0,
    start: asTime(i * 20 + delay),
    dur: asDuration(10),
  }));
}

function overviewOf(count: number, lanes: number): Overview {
  const track = { num_lanes: lanes, num_events: count };
  return {
    origin_ns: "0",
    duration: asDuration(count * 20 + 100),
    num_events: count * 2,
    num_nodes: 0,
    num_frames: 0,
    title: "fake",
    parts: [
      {
        part: 0,
        name: "",
        rank: null,
        window: 0,
        title: "fake",
        first_id: 0,
        num_events: count * 2,
        origin_ns: "0",
        iterations: [],
      },
    ],
    typical_part: null,
    device_names: ["fake"],
    groups: [
      { group: 0, parent: null, part: 0, kind: "host", name: "python 1" },
      { group: 1, parent: null, part: 0, kind: "device", name: "Device 0" },
    ],
    tracks: [
      { track: 0, group: 0, kind: "thread", name: "thread 1", ...track },
      { track: 1, group: 1, kind: "stream", name: "stream 7", ...track, num_lanes: 1 },
    ],
    iterations: [],
    kinds: ["operator", "launch", "kernel"],
    verdict: { state: "complete", problems: [] },
    health: [],
    coverage: {
      nodes: { count: 0, num_linked: 0 },
      operators: { count, num_linked: 0 },
      device_events: { count, num_linked: count },
      device_owners: { count, num_linked: count },
    },
  };
}

/** Elements around the timeline that commands need; here they do nothing. */
export const AROUND = { focusSearch: () => {}, focusFilter: () => {}, toggleFullScreen: () => {} };
