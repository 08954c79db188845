import assert from "node:assert/strict";
import { test } from "node:test";
import { labelOf } from "../../../wasm/web/base/labels";

test("a name without a label is its own label", () => {
  const labels = { "void mul<float>(int)": "mul" };
  const names = ["void mul<float>(int)", "aten::mm", "constructor", "__proto__", ""];
  assert.deepEqual(
    names.map((name) => labelOf(labels, name)),
    ["mul", "aten::mm", "constructor", "__proto__", ""],
  );
});
