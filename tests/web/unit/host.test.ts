import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { concat, fromBase64, fromBase85, gunzip } from "../../../wasm/web/base/bytes";
import { span } from "../../../wasm/web/base/time";
import { bytesOf, Chunks } from "../../../wasm/web/host/chunks";
import { themeOf } from "../../../wasm/web/host/theme";
import { formatHash, parseHash } from "../../../wasm/web/report/hash";
import { openPerfetto } from "../../../wasm/web/report/perfetto";
import { sortKey } from "../../../wasm/web/report/sort-key";

const bytes = (...values: number[]) => Uint8Array.from(values);

test("base85, as Python's standard library writes it", () => {
  const cases: readonly (readonly [string, readonly number[]])[] = [
    ["", []],
    ["VE", [97]],
    ["VPX", [97, 98]],
    ["VPaz", [97, 98, 99]],
    ["VPa!s", [97, 98, 99, 100]],
    ["|NsC0|NsC0{{", [255, 255, 255, 255, 255, 255, 255, 255, 255]],
    ["YiVv}bZ>KGZ*XM", [107, 105, 110, 101, 116, 111, 115, 99, 111, 112, 101]],
  ];
  for (const [text, bytes] of cases) assert.deepEqual([...fromBase85(text)], bytes);
  assert.deepEqual([...fromBase85("VP\nX")], [97, 98]);
});

test("base64 and gzip", async () => {
  const packed = gzipSync(Buffer.from("kinetoscope")).toString("base64");
  assert.equal(new TextDecoder().decode(await gunzip(fromBase64(packed))), "kinetoscope");
  assert.deepEqual(concat([bytes(1, 2), bytes(), bytes(3)]), bytes(1, 2, 3));
});

test("pieces are joined in any order", () => {
  const chunks = new Chunks();
  assert.equal(chunks.add({ chunk: 1, num_chunks: 3 }, bytes(3)), null);
  assert.equal(chunks.add({ chunk: 2, num_chunks: 3 }, bytes(4, 5)), null);
  assert.deepEqual(chunks.add({ chunk: 0, num_chunks: 3 }, bytes(1, 2)), bytes(1, 2, 3, 4, 5));
});

test("a buffer may be a view into a larger one", () => {
  const whole = bytes(1, 2, 3, 4);
  assert.deepEqual(bytesOf(new DataView(whole.buffer, 1, 2)), bytes(2, 3));
  assert.deepEqual(bytesOf(whole.buffer), whole);
});

test("Perfetto's tab opens before the trace is made, and a failure is reported", async (context) => {
  const steps: string[] = [];
  let hear: (message: object) => void = () => {};
  const tab = { postMessage: (message: unknown) => message !== "PING" && steps.push("handed over") };
  Object.assign(globalThis, {
    open: () => steps.push("opened") && tab,
    addEventListener: (_: string, listener: typeof hear) => {
      hear = listener;
    },
    removeEventListener: () => {},
  });
  context.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const make = async () => {
    steps.push("made");
    return bytes(1);
  };
  openPerfetto(make, "t", assert.ifError);
  hear({ data: "PONG", origin: "https://ui.perfetto.dev" });
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(steps, ["opened", "made", "handed over"]);
  const failures: unknown[] = [];
  openPerfetto(
    () => Promise.reject("no room"),
    "t",
    (error) => failures.push(error),
  );
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(failures, ["no room"]);
});

function marks(body: Record<string, string>, html: Record<string, string> = {}, prefersDark = false) {
  const element = ({ class: classes = "", ...attributes }: Record<string, string>) => ({
    getAttribute: (name: string) => attributes[name] ?? null,
    classList: { contains: (name: string) => classes.split(" ").includes(name) } as DOMTokenList,
  });
  return { body: element(body), html: element(html), prefersDark };
}

test("the theme of each host is recognised", () => {
  assert.equal(themeOf(marks({ "data-jp-theme-light": "false" })), "dark");
  assert.equal(themeOf(marks({ "data-jp-theme-light": "true" }, {}, true)), "light");
  assert.equal(themeOf(marks({ class: "vscode-body vscode-dark" })), "dark");
  assert.equal(themeOf(marks({ class: "vscode-light" }, {}, true)), "light");
  assert.equal(themeOf(marks({ class: "vscode-high-contrast vscode-high-contrast-light" })), "light");
  assert.equal(themeOf(marks({}, { theme: "dark" })), "dark");
  assert.equal(themeOf(marks({}, { class: "dark" })), "dark");
  assert.equal(themeOf(marks({}, {}, true)), "dark");
  assert.equal(themeOf(marks({})), "light");
});

test("VS Code, Colab and marimo are recognised by their attributes", () => {
  const code = { class: "vscode-dark", "data-vscode-theme-kind": "vscode-dark" };
  assert.equal(themeOf(marks(code, {}, false)), "dark");
  assert.equal(themeOf(marks({ class: "vscode-body vscode-high-contrast" }, {}, false)), "dark");
  assert.equal(themeOf(marks({}, { theme: "dark", class: "colab" }, false)), "dark");
  assert.equal(themeOf(marks({}, { theme: "light" }, true)), "light");
  assert.equal(themeOf(marks({ "data-theme": "dark", class: "dark dark-theme" }, {}, false)), "dark");
  assert.equal(themeOf(marks({ class: "light light-theme" }, {}, true)), "light");
});

const nowhere = { view: null, range: null, part: null, event: null, gap: null };

test("a link into a report names its target", () => {
  const setup = { align: undefined, frames: undefined };
  assert.deepEqual(parseHash("#range=100-250&event=7"), { ...nowhere, range: span(100, 250), event: 7, setup });
  assert.deepEqual(parseHash("#event=x&range=3"), { ...nowhere, setup });
  const ofRank = { ...nowhere, range: span(100, 250), part: 3, setup };
  assert.deepEqual(parseHash("#range=100-250&part=3"), ofRank);
  assert.equal(formatHash(ofRank), "#range=100-250&part=3");
  assert.deepEqual(parseHash(""), { ...nowhere, setup });
  assert.equal(formatHash({ ...nowhere, range: span(99.6, 250), event: 0, setup }), "#range=100-250&event=0");
  assert.equal(formatHash({ ...nowhere, view: span(-3, 70.2), setup }), "#view=0-70");
  assert.deepEqual(parseHash("#view=5-70"), { ...nowhere, view: span(5, 70), setup });
  assert.deepEqual(parseHash("#gap=12"), { ...nowhere, gap: 12, setup });
  assert.equal(formatHash({ ...nowhere, gap: 12, setup }), "#gap=12");
  assert.equal(formatHash({ ...nowhere, setup }), "");
});

test("a link contains options of the screen that are not the default", () => {
  const target = { ...nowhere, event: 3 };
  for (const setup of [
    { align: { iteration: 12 }, frames: false },
    { align: "start", frames: undefined },
    { align: undefined, frames: false },
  ] as const) {
    assert.deepEqual(parseHash(formatHash({ ...target, setup })), { ...target, setup });
  }
  assert.equal(
    formatHash({ ...target, setup: { align: "start", frames: false } }),
    "#event=3&align=start&frames=hidden",
  );
  assert.deepEqual(parseHash("#align=nonsense&frames=yes").setup, { align: undefined, frames: undefined });
});

test("cells are sorted by value", () => {
  assert.equal(sortKey("1.5 ms"), 1.5e6);
  assert.equal(sortKey("2 s"), 2e9);
  assert.equal(sortKey("12 µs"), 12_000);
  assert.equal(sortKey("1,234"), 1234);
  assert.equal(sortKey("47.3%"), 47.3);
  assert.equal(sortKey("aten::mm"), "aten::mm");
  assert.equal(sortKey("3 cats"), "3 cats");
});
