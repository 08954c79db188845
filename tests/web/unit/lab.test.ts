import assert from "node:assert/strict";
import { test } from "node:test";
import { baseName, fetchFile, folderOf, recordingAt } from "../../../wasm/web/lab/files";
import type { ContentsManager, Lab } from "../../../wasm/web/lab/host";
import { relative, useInNotebook } from "../../../wasm/web/lab/notebook";
import { findShared, type SharedScope, takeShared } from "../../../wasm/web/lab/shared";

test("a notebook names a file from its own folder", () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ["", "a.json", "a.json"],
    ["", "runs/a.json", "runs/a.json"],
    ["runs", "runs/a.json", "a.json"],
    ["runs/one", "runs/two/a.json", "../two/a.json"],
    ["a/b/c", "d.json", "../../../d.json"],
    ["a/b", "a/b", "../b"],
    ["run", "runs/a.json", "../runs/a.json"],
  ];
  for (const [folder, path, expected] of cases) assert.equal(relative(folder, path), expected);
});

test("paths have a folder and a name", () => {
  assert.deepEqual([folderOf("a.json"), baseName("a.json")], ["", "a.json"]);
  assert.deepEqual([folderOf("x/y/a.json"), baseName("x/y/a.json")], ["x/y", "a.json"]);
});

test("the application's own copy of a package is taken", async () => {
  const of = (module: unknown) => ({ get: async () => () => module });
  const scope: SharedScope = {
    "@lumino/widgets": { "1.0.0": of("old"), "2.0.0": { ...of("used"), loaded: 1 } },
    "@jupyterlab/launcher": { "4.0.0": of("only") },
  };
  assert.equal(await findShared(scope, "@lumino/widgets"), "used");
  assert.equal(await findShared(scope, "@jupyterlab/launcher"), "only");
  assert.equal(await findShared(scope, "@jupyterlab/notebook"), undefined);
  await assert.rejects(takeShared(scope, "@jupyterlab/notebook"), /found none/);
});

/** A server with files in one folder. */
function server(names: readonly string[], more: object = {}): ContentsManager {
  const content = names.map((name) => ({ name, path: `runs/${name}` }));
  const stub = {
    get: async (path: string) => ({ name: baseName(path), size: 424 * 2 ** 20, content }),
    getDownloadUrl: async (path: string) => `http://server/files/${path}`,
    localPath: (path: string) => path,
    ...more,
  };
  return stub as unknown as ContentsManager;
}

const RECORDING = ["torch_et_0.json.gz", "kineto_trace_0.json.xz", "kineto_trace_1.json"];

test("the files of a recording are found by either of them", async () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ["torch_et_0.json.gz", ["runs/kineto_trace_0.json.xz", "runs/torch_et_0.json.gz"]],
    ["kineto_trace_0.json.xz", ["runs/kineto_trace_0.json.xz", "runs/torch_et_0.json.gz"]],
    ["kineto_trace_1.json", ["runs/kineto_trace_1.json"]],
    ["other.json", ["runs/other.json"]],
  ];
  for (const [name, paths] of cases) assert.deepEqual(await recordingAt(server(RECORDING), `runs/${name}`), paths);
});

test("a notebook reads the recording of an Execution Trace, not the Execution Trace alone", async () => {
  const inserted: string[] = [];
  const sharedModel = { insertCell: (_: number, { source }: { source: string }) => inserted.push(source) };
  const panel = { id: "n", isDisposed: false, context: { path: "a.ipynb" }, content: { model: { sharedModel } } };
  const lab = { serviceManager: { contents: server(RECORDING) }, shell: { activateById: () => {} } };
  await useInNotebook(lab as unknown as Lab, { currentWidget: panel as never }, "runs/torch_et_0.json.gz");
  assert.deepEqual(inserted, ['import kinetoscope as ks\n\ntrace = ks.read("runs/kineto_trace_0.json.xz")\ntrace']);
});

const broken = (error: Error) => ({ ok: true, blob: () => Promise.reject(error) });

test("a file that does not load says why", async (context) => {
  const lost = new TypeError("Failed to fetch");
  const refused = Object.assign(new Error("Permission denied: t.json"), { response: {} });
  const facts = { name: "t.json", size: 424 * 2 ** 20 };
  /** The server as it answers each question for content: facts, then the file or facts again. */
  const answers = (...given: readonly (object | Error)[]) => {
    const left = [...given];
    const get = async () => {
      const answer = left.shift();
      if (answer instanceof Error) throw answer;
      return answer;
    };
    return server([], { get });
  };
  const load = (contents: ContentsManager, response: () => unknown) => {
    context.mock.method(globalThis, "fetch", async () => response());
    return fetchFile(contents, "runs/t.json", () => {});
  };
  const dead = () => {
    throw lost;
  };
  const full = /^Error: t\.json: the browser has no memory for this file of 424 MiB: close other tabs/;
  const silent = /^Error: t\.json: the server does not answer \(Failed to fetch\): open the file again later/;
  await assert.rejects(
    load(answers(facts, facts), () => broken(lost)),
    full,
  );
  await assert.rejects(load(answers(facts, new SyntaxError("Unexpected end of JSON input"), facts), dead), full);
  await assert.rejects(
    load(answers(facts, lost), () => broken(lost)),
    silent,
  );
  await assert.rejects(load(answers(facts, lost, lost), dead), silent);
  await assert.rejects(load(answers(lost), dead), silent);
  await assert.rejects(load(answers(refused), dead), refused);
  await assert.rejects(
    load(answers(facts, refused), () => ({ ok: false })),
    refused,
  );
  const file = await load(answers(facts, { content: "aGk=" }), dead);
  assert.deepEqual([file.name, await file.text()], ["t.json", "hi"]);
});
