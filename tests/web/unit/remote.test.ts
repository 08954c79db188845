import assert from "node:assert/strict";
import { test } from "node:test";
import { LazySource } from "../../../wasm/web/source/lazy-source";
import { openSource, type Supply } from "../../../wasm/web/source/open";
import { RemoteSource } from "../../../wasm/web/source/remote";
import { share } from "../../../wasm/web/source/shared";
import { Dropped, type Source } from "../../../wasm/web/source/source";
import { FakeSource } from "./fake-source";

/** Answers on demand, in the core's format. */
class FakeKernel {
  readonly messages: string[][] = [];
  readonly #open: { request: string; resolve: (bytes: Uint8Array) => void }[] = [];

  query(requests: readonly string[]): Promise<Uint8Array>[] {
    this.messages.push([...requests]);
    return requests.map((request) => new Promise((resolve) => this.#open.push({ request, resolve })));
  }

  /** Answers all pending requests. */
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

test("requests of one turn share a message, and equal requests are sent once", async () => {
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

test("the reader's requests go before tiles, and the latest tiles first", async () => {
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

test("stale tiles are dropped, and their requests rejected", async () => {
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

test("a closed source sends nothing more", async () => {
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
  return { kernel, version: "test", key: "test", core: never, snapshots: never, tell: (note) => notes.push(note) };
}

test("a large trace stays in the kernel", async () => {
  const kernel = new FakeKernel();
  const source = await openSource("kernel", supply(kernel, []));
  const overview = source.query("overview", {});
  await turn();
  kernel.answer();
  assert.ok(await overview);
});

test("without WebAssembly the kernel answers, with a message", async () => {
  const kernel = new FakeKernel();
  const notes: string[] = [];
  const compile = WebAssembly.compile;
  WebAssembly.compile = () => Promise.reject(new WebAssembly.CompileError("refused by policy"));
  try {
    const source = await openSource("browser", supply(kernel, notes));
    quiet(Promise.resolve(source.query("overview", {})));
    await turn();
    assert.equal(kernel.messages.length, 1);
    assert.match(notes.join(), /does not allow WebAssembly/);
  } finally {
    WebAssembly.compile = compile;
  }
});

test("the page loads its core after the first picture, and the kernel answers when that fails", async () => {
  const kernel = new FakeKernel();
  const notes: string[] = [];
  let numFetched = 0;
  const core = () => {
    numFetched++;
    return Promise.reject(new Error("nothing is fetched"));
  };
  const source = await openSource("browser", { ...supply(kernel, notes), core });
  const overview = source.query("overview", {});
  await turn();
  kernel.answer();
  await overview;
  quiet(Promise.resolve(source.query("tiles", tilesAt(0))));
  await turn();
  assert.equal(numFetched, 0, "the picture comes before the core");
  kernel.answer();
  await turn();
  assert.equal(numFetched, 1);
  assert.match(notes.join(), /could not be loaded into this page: nothing is fetched/);
  quiet(Promise.resolve(source.query("overview", {})));
  await turn();
  assert.equal(kernel.messages.length, 3);
  source.close();
});

/** A lazy source whose core arrives on demand. */
function lazy(kernel: Source): { source: LazySource; come: (core: Source) => Promise<void> } {
  let resolve: (core: Source) => void = () => {};
  const loaded = new Promise<Source>((done) => {
    resolve = done;
  });
  const source = new LazySource(
    kernel,
    () => loaded,
    () => {},
  );
  const come = async (core: Source) => {
    resolve(core);
    await turn();
  };
  return { source, come };
}

test("a lazy source changes from the kernel to the page", async () => {
  const [kernel, page] = [new FakeSource({ isLate: true }), new FakeSource()];
  const { source, come } = lazy(kernel);
  source.query("tiles", tilesAt(0));
  await turn();
  await come(page);
  source.query("overview", {});
  assert.deepEqual([kernel.asked.length, page.asked.length], [1, 1]);
  source.close();
});

test("a lazy source that was closed closes the core that comes too late", async () => {
  const { source, come } = lazy(new FakeSource({ isLate: true }));
  source.query("tiles", tilesAt(0));
  await turn();
  source.close();
  let isClosed = false;
  const late = new FakeSource();
  late.close = () => {
    isClosed = true;
  };
  await come(late);
  assert.ok(isClosed);
});

test("views of one trace share a source, and the last one closes it", async () => {
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

test("a source that failed to open is opened again for the next view", async () => {
  let numTried = 0;
  const open = async () => {
    numTried++;
    throw new Error("no");
  };
  await assert.rejects(share("b", open), /no/);
  await assert.rejects(share("b", open), /no/);
  assert.equal(numTried, 2);
});

test("a source that another view failed to open is opened at once", async () => {
  let fail: (error: Error) => void = () => {};
  const first = share("c", () => new Promise<Source>((_, reject) => (fail = reject)));
  const second = share("c", async () => new FakeSource());
  const third = second.catch(() => share("c", async () => new FakeSource()));
  quiet(first);
  fail(new Error("the widget was closed"));
  assert.ok(await third, "it does not wait until the other views leave");
});
