import assert from "node:assert/strict";
import { test } from "node:test";
import { baseName, folderOf } from "../../../wasm/web/lab/files";
import { relative } from "../../../wasm/web/lab/notebook";
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
