import wasm from "kinetoscope:wasm";
import assert from "node:assert/strict";
import { File } from "node:buffer";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fromBase64, gunzip } from "../../../wasm/web/base/bytes";
import { loadCore } from "../../../wasm/web/source/core";
import { readAll, readMemory } from "../../../wasm/web/source/files";
import { messageOf } from "../../../wasm/web/source/source";

const read = async (file: unknown): Promise<string> => {
  await loadCore("test", () => gunzip(fromBase64(wasm)));
  const files = [file as globalThis.File];
  try {
    if (!(await readMemory(files))) await readAll(files);
    return "";
  } catch (error) {
    return messageOf(error);
  }
};

test("a file of another format is told what its name promised", async () => {
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ["a.pickle", "hello", /^expected a memory snapshot, by its name, found text that is not a JSON object/],
    ["a.pickle.gz", "hello", /^expected a memory snapshot, by its name, found text/],
    ["a.kscope", "hello", /^expected a saved trace, by its name, found text/],
    ["a.sqlite", "hello", /^expected a database, by its name, found text/],
    ["a.pftrace", "<html>", /^expected a Perfetto trace, by its name, found an HTML/],
    ["a.trace.json", "hello", /^expected a JSON trace, .*found text/],
    ["a.pickle", "\x80\x04K\x01.", /memory snapshot/],
  ];
  for (const [name, content, message] of cases) {
    assert.match(await read(new File([Buffer.from(content, "latin1")], name)), message);
  }
});

test("a file beyond the memory of the browser is no broken trace", async () => {
  const head = new File([readFileSync("tests/data/minimal_cpu/kineto_trace_0.json.gz")], "t.json.gz");
  const large = {
    name: "t.json.gz",
    size: 424 * 2 ** 20,
    slice: (start: number, end: number) => head.slice(start, end),
    arrayBuffer: () => Promise.reject(new DOMException("The requested file could not be read", "NotReadableError")),
  };
  assert.equal(
    await read(large),
    "the browser has no memory for this file of 424 MiB: close other tabs, or read it with ks.read in a notebook",
  );
  assert.equal(await read(head), "");
});
