// Compares source/protocol.ts with the compiled core. The core writes most answers as JSON without
// a Rust struct, so no tool can generate their types: this test checks real requests and answers
// instead.
import wasm from "kinetoscope:wasm";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { Session } from "../../../wasm/dist/kinetoscope_wasm.js";
import { fromBase64, gunzip } from "../../../wasm/web/base/bytes";
import { decodeAnswer } from "../../../wasm/web/source/answer";
import { loadCore } from "../../../wasm/web/source/core";
import type { Column } from "../../../wasm/web/source/frame";
import type { Answer, Ask, RequestType } from "../../../wasm/web/source/protocol";

const OUT = "wasm/dist/protocol";
const DATA = "tests/data";
// Together they have device work, stacks, Execution Traces, collectives, counters and defects.
const SCREENS: readonly (readonly string[])[] = [
  ["synthetic_cuda/kineto_trace_0.json.gz", "synthetic_cuda/torch_et_0.json.gz"],
  ["transformer_cpu/kineto_trace_0.json.gz", "transformer_cpu/torch_et_0.json.gz"],
  ["hostile/kineto_trace_0.json.gz"],
];
const RANKS = ["mlp_gloo/kineto_trace_0.json.gz", "mlp_gloo/kineto_trace_1.json.gz"];

type Asks = { readonly [T in RequestType]: Required<Ask<T>> };

/** One request of each type with every field that the viewer may set. */
function asksOf(end: number): Asks {
  const setup = { align: "recorded", frames: true } as const;
  const span = { start: 0, end };
  const window = { ...setup, ...span, pixels: 300 };
  return {
    overview: setup,
    tiles: { ...window, tracks: [0, 1, 2], by: "operator" },
    at: { ...setup, track: 0, lane: 0, time: end / 2, tolerance: end },
    gap: { ...setup, track: 0, time: end / 2 },
    event: { ...setup, id: 0 },
    links: { ...setup, id: 0 },
    neighbour: { ...setup, id: 0, direction: "next" },
    search: { ...setup, text: "a", limit: 5, from: 0, start: 0 },
    marks: { ...window, text: "a" },
    analyses: setup,
    analyze: {
      ...setup,
      ...span,
      name: "operators",
      part: 0,
      trimmed: true,
      limit: 3,
      order: { table: "operators", column: "name", descends: true },
      options: {},
    },
    compare: {
      ...setup,
      ...span,
      other_start: 0,
      other_end: end,
      part: 0,
      options: {},
      limit: 3,
      order: { table: "diff", column: "before_ns", descends: true },
    },
    hits: { ...setup, text: "a", limit: 3, order: { table: "hits", column: "dur_ns", descends: true } },
    findings: setup,
    flame: {
      ...setup,
      ...span,
      part: 0,
      iteration: undefined,
      phase: undefined,
      against: undefined,
      trimmed: true,
      options: {},
    },
    path: { ...window, through_job: false },
    counters: setup,
    counter: { ...window, counter: 0 },
    changes: setup,
    summary: { ...setup, ...span, part: 0, findings: true },
    report: { ...setup, title: "a", facts: [["file", "a.json"]] },
  };
}

const load = () => loadCore("test", () => gunzip(fromBase64(wasm)));
const bytesOf = (path: string) => new Uint8Array(readFileSync(`${DATA}/${path}`));
const ask = (session: Session, request: object) => session.query(new TextEncoder().encode(JSON.stringify(request)));

function read([kineto, execution]: readonly string[]): Session {
  assert.ok(kineto);
  return Session.read(bytesOf(kineto), execution === undefined ? undefined : bytesOf(execution));
}

function readRanks(): Session {
  const session = new Session();
  for (const [rank, path] of RANKS.entries()) {
    const alone = read([path]);
    session.add(alone.snapshot(0), "", rank);
    alone.free();
  }
  return session;
}

test("the core reads every field of every request", async () => {
  await load();
  const session = readRanks();
  for (const [type, fields] of Object.entries(asksOf(1e6))) {
    for (const field of Object.keys(fields)) {
      const answer = new TextDecoder().decode(ask(session, { type, ...fields, [field]: [[0]] }).subarray(4));
      assert.match(answer, new RegExp(`expected .* as ${field},`), `${type}: the core does not read ${field}`);
    }
  }
  session.free();
});

/** Requests about one screen whose answers contain most of the core's fields. */
function* requestsOf(session: Session): Iterable<[RequestType, object]> {
  const data = <T extends RequestType>(type: T, fields: object = {}): Answer<T> =>
    decodeAnswer(type, ask(session, { type, ...fields }));
  const { duration, tracks } = data("overview");
  const { counter, analyze, gap, event, links, neighbour, tiles, ...once } = asksOf(duration);
  for (const [type, fields] of Object.entries(once)) yield [type as RequestType, fields];
  for (const at of data("counters").counters.keys()) yield ["counter", { ...counter, counter: at }];
  const { order: _, trimmed: __, start: ___, end: ____, ...analysis } = analyze;
  for (const { name } of data("analyses").analyses) yield ["analyze", { ...analysis, name }];
  for (const { track } of tracks) {
    for (const by of [undefined, "operator", "module"]) yield ["tiles", { ...tiles, tracks: [track], by }];
    for (const share of [0.1, 0.3, 0.5, 0.7, 0.9]) yield ["gap", { ...gap, track, time: duration * share }];
    const { id: ids } = data("tiles", { ...tiles, tracks: [track] });
    for (const id of ids.filter((_, at) => at % Math.ceil(ids.length / 12) === 0)) {
      yield ["event", { ...event, id }];
      yield ["links", { ...links, id }];
      yield ["neighbour", { ...neighbour, id }];
    }
  }
}

/** Writes a value as TypeScript. */
function literal(value: unknown): string {
  if (ArrayBuffer.isView(value)) return `new ${(value as Column).constructor.name}()`;
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, field]) => `${JSON.stringify(name)}: ${literal(field)}`);
  return `{ ${fields.join(", ")} }`;
}

// Times are branded numbers, so a literal needs `Plain`. The core sends more fields, for Python:
// `as const` makes tsc accept them.
const HEADER = `import type { Answer } from "../../web/source/protocol";
type Plain<T> = T extends number ? number : T extends ArrayBufferView ? T : { [K in keyof T]: Plain<T[K]> };
`;

test("the core's answers have the types of protocol.ts", async () => {
  await load();
  const blocks = new Set<string>();
  for (const session of [...SCREENS.map(read), readRanks()]) {
    for (const [type, fields] of requestsOf(session)) {
      const answer = decodeAnswer(type, ask(session, { type, ...fields }));
      blocks.add(`{ const sent = ${literal(answer)} as const; const typed: Plain<Answer<"${type}">> = sent; }`);
    }
    session.free();
  }
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });
  writeFileSync(`${OUT}/answers.ts`, HEADER + [...blocks].join("\n"));
  const config = {
    extends: "../../tsconfig.json",
    compilerOptions: { noUnusedLocals: false },
    include: ["answers.ts"],
  };
  writeFileSync(`${OUT}/tsconfig.json`, JSON.stringify(config));
  const { status, stdout } = spawnSync("wasm/node_modules/.bin/tsc", ["--project", OUT], { encoding: "utf8" });
  assert.equal(status, 0, stdout.slice(0, 4000));
});

test("the core names the range of a trimmed trace as protocol.ts does", async () => {
  await load();
  const whole = read(["synthetic_cuda/kineto_trace_0.json.gz"]);
  const trimmed = whole.copy(new TextEncoder().encode(JSON.stringify({ start: 600_000, end: 1_200_000 })));
  // This is the only optional field of an answer, so tsc would not notice another name.
  const overview = decodeAnswer("overview", ask(trimmed, { type: "overview" }));
  assert.ok(overview.trimmed && overview.trimmed.end - overview.trimmed.start > 0);
  whole.free();
  trimmed.free();
});
