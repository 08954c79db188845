import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventDetails, Overview } from "../../../wasm/web/source/protocol";
import { benchmarkCommand } from "../../../wasm/web/timeline/benchmark";
import { FakeSource } from "./fake-source";

const { overview } = new FakeSource();
const [part] = overview.parts;

const event = (id: number, part = 0, kind = "operator"): EventDetails => ({ id, part, kind }) as EventDetails;
const titled = (...titles: readonly string[]): Overview => ({
  ...overview,
  parts: titles.map(
    (title, at) => ({ ...part, title, part: at, rank: at, first_id: 100 * at }) as Overview["parts"][0],
  ),
});

test("the command names the file and the event's id in it", () => {
  assert.equal(benchmarkCommand(titled("run.json"), event(3)), "kinetoscope bench run.json --event 3");
  assert.equal(benchmarkCommand(titled("a.json", "b.json"), event(103, 1)), "kinetoscope bench b.json --event 3");
  const merged = benchmarkCommand(titled("all.json", "all.json"), event(103, 1));
  assert.equal(merged, "kinetoscope bench all.json --event 3 --rank 1");
});

test("a name is one word of the shell", () => {
  const command = benchmarkCommand(titled("it's $(run).json"), event(3));
  assert.equal(command, "kinetoscope bench 'it'\\''s $(run).json' --event 3");
});

test("there is no command for other events, and where ids are others than in the file", () => {
  assert.equal(benchmarkCommand(titled("run.json"), event(3, 0, "kernel")), null);
  const defect = { kind: "trimmed", message: "", count: 1, first: "", part: 0 };
  assert.equal(benchmarkCommand({ ...titled("run.json"), health: [defect] }, event(3)), null);
});
