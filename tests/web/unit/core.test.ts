import wasm from "kinetoscope:wasm";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Session } from "../../../wasm/dist/kinetoscope_wasm.js";
import { fromBase64, gunzip } from "../../../wasm/web/base/bytes";
import { kindColor, paletteOf } from "../../../wasm/web/base/palette";
import { decodeAnswer } from "../../../wasm/web/source/answer";
import { loadCore } from "../../../wasm/web/source/core";
import type { Answer, Ask, RequestType } from "../../../wasm/web/source/protocol";
import { messageOf, type Source } from "../../../wasm/web/source/source";
import { Timeline } from "../../../wasm/web/timeline/timeline";

const FIXTURE = "tests/data/synthetic_cuda";

/** Answers from the compiled core about trace files, where the widget has a snapshot. */
class FileSource implements Source {
  readonly #session: Session;

  constructor(kineto: string, execution?: string) {
    const read = (path: string) => new Uint8Array(readFileSync(path));
    this.#session = Session.read(read(kineto), execution === undefined ? undefined : read(execution));
  }

  query<T extends RequestType>(type: T, ask: Ask<T>): Answer<T> {
    return decodeAnswer(type, this.#session.query(new TextEncoder().encode(JSON.stringify({ type, ...ask }))));
  }

  copy(): null {
    return null;
  }

  close(): void {
    this.#session.free();
  }
}

const load = () => loadCore("test", () => gunzip(fromBase64(wasm)));

async function open(): Promise<FileSource> {
  await load();
  return new FileSource(`${FIXTURE}/kineto_trace_0.json.gz`, `${FIXTURE}/torch_et_0.json.gz`);
}

test("a page compiles the core once", async () => {
  let fetched = 0;
  const fetchBytes = () => {
    fetched++;
    return gunzip(fromBase64(wasm));
  };
  await Promise.all([loadCore("once", fetchBytes), loadCore("once", fetchBytes)]);
  assert.equal(fetched, 1);
});

test("the core answers in the declared types", async () => {
  const source = await open();
  const overview = source.query("overview", {});
  assert.ok(overview.tracks.length > 2 && overview.num_events > 100);
  const tracks = overview.tracks.map(({ track }) => track);
  const tiles = source.query("tiles", { tracks, start: 0, end: overview.duration, pixels: 10_000 });
  assert.equal(
    tiles.count.reduce((sum, count) => sum + count, 0),
    overview.num_events,
    "no event is left out",
  );
  const hits = source.query("search", { text: "ATEN::MM", limit: 3 });
  assert.ok(hits.count > 3);
  assert.equal(hits.id.length, 3);
  const summary = source.query("summary", { start: 0, end: overview.duration / 2 });
  assert.ok(summary.operators.length > 0 && summary.kernels.length > 0);
  source.close();
});

test("a kernel leads to its launch, operator and node", async () => {
  const source = await open();
  const timeline = new Timeline(source, source.query("overview", {}));
  timeline.viewport.calm = true;
  timeline.size.set({ width: 1000, height: 400 });
  timeline.find("gemm");
  timeline.step(1);
  const details = timeline.selection.current.value?.details;
  assert.equal(timeline.error.value, null);
  assert.equal(details?.kind, "kernel");
  assert.equal(details?.launch?.kind, "launch");
  assert.equal(details?.operator?.kind, "operator");
  assert.ok(details?.node?.inputs.some((input) => input.shape.startsWith("[")));
  const id = details?.id;
  timeline.visit(timeline.selection.partner(false));
  assert.equal(timeline.selection.current.value?.details.kind, "launch");
  timeline.visit(timeline.selection.partner(true));
  assert.equal(timeline.selection.current.value?.details.id, id);
  timeline.close();
});

test("the core's error messages come through", async () => {
  const source = await open();
  assert.throws(() => source.query("event", { id: 4_000_000 }), /expected the id of an event, found 4000000/);
  source.close();
  try {
    new Session().add(Uint8Array.of(1, 2, 3), "");
    assert.fail("expected an error");
  } catch (error) {
    assert.match(messageOf(error), /expected .*found/s);
  }
});

test("the static picture has the colours of the timeline", async () => {
  await load();
  const session = Session.read(new Uint8Array(readFileSync(`${FIXTURE}/kineto_trace_0.json.gz`)), undefined);
  const answer = session.query(new TextEncoder().encode(JSON.stringify({ type: "picture", width: 800 })));
  const palette = paletteOf("light", { r: 255, g: 255, b: 255 });
  const drawn = [...new TextDecoder().decode(answer).matchAll(/ks-kind-(\w+)\W+fill=\W+(#\w+)/g)];
  assert.ok(drawn.length > 1);
  for (const [, kind, color] of drawn) assert.equal(color, kindColor(palette, kind ?? ""), kind);
  session.free();
});
