import assert from "node:assert/strict";
import { test } from "node:test";
import { openSource, type Supply } from "../../../wasm/web/source/open";
import { RelaySource } from "../../../wasm/web/source/relay";
import { RemoteSource } from "../../../wasm/web/source/remote";
import { share } from "../../../wasm/web/source/shared";
import { Dropped } from "../../../wasm/web/source/source";
import { FakeSource } from "./fake-source";

/** Answers when it is told to, in the core's own form. */
class FakeKernel {
  readonly messages: string[][] = [];
  readonly #open: { request: string; resolve: (bytes: Uint8Array) => void }[] = [];

  query(requests: readonly string[]): Promise<Uint8Array>[] {
    this.messages.push([...requests]);
    return requests.map((request) => new Promise((resolve) => this.#open.push({ request, resolve })));
  }

  /** Answers all that was asked. */
  answer(): void {
    for (const { request, resolve } of this.#open.splice(0)) resolve(response(JSON.parse(request)));
  }
}

function response({ type, ...data }: { type: string }): Uint8Array {
  const header = new TextEncoder().encode(JSON.stringify({ ok: true, type, data, columns: [] }));
  const bytes = new Uint8Array(4 + header.length);
  new DataView(bytes.buffer).setUint32(0, header.length, true);
  bytes.set(header, 4);
  return bytes;
}

const turn = () => new Promise<void>((done) => setTimeout(done));
const tilesAt = (start: number) => ({ tracks: [0], start, end: start + 1, pixels: 1 });
const quiet = (promise: Promise<unknown>) => void promise.catch(() => {});

test("what is asked in one turn goes in one message, and the same is asked once", async () => {
  const kernel = new FakeKernel();
  const source = new RemoteSource(kernel);
  const answers = [
    source.query("event", { id: 1 }),
    source.query("event", { id: 1 }),
    source.query("links", { id: 1 }),
  ];
  await turn();
  assert.equal(kernel.messages.length, 1);
  assert.equal(kernel.messages[0]?.length, 2);
  kernel.answer();
  const [one, same] = await Promise.all(answers);
  assert.deepEqual(one, same);
});

test("the reader's question goes before the picture, and the latest tiles before older ones", async () => {
  const kernel = new FakeKernel();
  const source = new RemoteSource(kernel);
  for (let start = 0; start < 40; start++) quiet(source.query("tiles", tilesAt(start)));
  quiet(source.query("event", { id: 1 }));
  await turn();
  const [first] = kernel.messages;
  assert.equal(JSON.parse(first?.[0] ?? "{}").type, "event");
  assert.equal(JSON.parse(first?.[1] ?? "{}").start, 39);
  assert.ok((first?.length ?? 0) < 40, "the rest waits, for it may become stale");
});

test("stale tiles are dropped, and who wants them is told so", async () => {
  const kernel = new FakeKernel();
  const source = new RemoteSource(kernel);
  const oldest = source.query("tiles", tilesAt(0));
  for (let start = 1; start < 900; start++) quiet(source.query("tiles", tilesAt(start)));
  await assert.rejects(oldest, Dropped);
  for (let round = 0; round < 40; round++) {
    await turn();
    kernel.answer();
  }
  const asked = kernel.messages.flat().length;
  assert.ok(asked < 400, `${asked} of 900 were asked`);
});

test("a closed source asks nothing more", async () => {
  const kernel = new FakeKernel();
  const source = new RemoteSource(kernel);
  quiet(source.query("event", { id: 1 }));
  source.close();
  await turn();
  assert.deepEqual(kernel.messages, []);
  await assert.rejects(source.query("event", { id: 1 }), /closed/);
});

function supply(kernel: FakeKernel, notes: string[]): Supply {
  const never = () => Promise.reject(new Error("nothing is fetched"));
  return { kernel, version: "test", core: never, snapshots: never, tell: (note) => notes.push(note) };
}

test("a large trace stays in the kernel", async () => {
  const kernel = new FakeKernel();
  const source = await openSource("kernel", supply(kernel, []));
  const overview = source.query("overview", {});
  await turn();
  kernel.answer();
  assert.ok(await overview);
});

test("where WebAssembly is forbidden the kernel answers, and the reader is told", async () => {
  const kernel = new FakeKernel();
  const notes: string[] = [];
  const compile = WebAssembly.compile;
  WebAssembly.compile = () => Promise.reject(new WebAssembly.CompileError("refused by policy"));
  try {
    const source = await openSource("browser", supply(kernel, notes));
    quiet(Promise.resolve(source.query("overview", {})));
    await turn();
    assert.equal(kernel.messages.length, 1);
    assert.match(notes.join(), /WebAssembly may not run/);
  } finally {
    WebAssembly.compile = compile;
  }
});

test("the kernel answers until the trace is here, and on when it does not come", async () => {
  const kernel = new FakeKernel();
  const notes: string[] = [];
  const source = await openSource("both", supply(kernel, notes));
  await turn();
  quiet(Promise.resolve(source.query("overview", {})));
  await turn();
  assert.equal(kernel.messages.length, 1);
  assert.match(notes.join(), /stays in the kernel: nothing is fetched/);
});

test("a relay goes over to the better source, and closes one that comes too late", () => {
  const [first, better] = [new FakeSource(), new FakeSource()];
  const relay = new RelaySource(first);
  relay.query("overview", {});
  relay.change(better);
  relay.query("overview", {});
  assert.deepEqual([first.asked.length, better.asked.length], [1, 1]);
  relay.close();
  let isClosed = false;
  const late = new FakeSource();
  late.close = () => {
    isClosed = true;
  };
  relay.change(late);
  assert.ok(isClosed);
});

test("views of one trace share a source, which the last one closes", async () => {
  let numOpened = 0;
  let numClosed = 0;
  const open = async () => {
    numOpened++;
    const source = new FakeSource();
    source.close = () => {
      numClosed++;
    };
    return source;
  };
  const [one, other] = await Promise.all([share("a", open), share("a", open)]);
  assert.equal(numOpened, 1);
  one?.close();
  one?.close();
  assert.equal(numClosed, 0);
  assert.throws(() => one?.query("overview", {}), /closed/);
  other?.close();
  await turn();
  assert.equal(numClosed, 1);
  (await share("a", open)).close();
  assert.equal(numOpened, 2, "opened anew for the next");
});

test("a source that cannot be opened is tried again by the next", async () => {
  let numTried = 0;
  const open = async () => {
    numTried++;
    throw new Error("no");
  };
  await assert.rejects(share("b", open), /no/);
  await assert.rejects(share("b", open), /no/);
  assert.equal(numTried, 2);
});
