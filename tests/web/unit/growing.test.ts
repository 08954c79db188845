import assert from "node:assert/strict";
import { test } from "node:test";
import type { Core } from "../../../wasm/web/source/core";
import { GrowingSource } from "../../../wasm/web/source/growing";
import type { WasmSource } from "../../../wasm/web/source/session";

/** A core whose rest comes, or fails to come, when the test says so. */
class FakeCore {
  isWhole = false;
  readonly asked: { resolve: () => void; reject: (error: Error) => void }[] = [];

  has(): boolean {
    return this.isWhole;
  }

  add(): Promise<void> {
    return new Promise((resolve, reject) => this.asked.push({ resolve, reject }));
  }

  come(): void {
    this.isWhole = true;
    for (const { resolve } of this.asked.splice(0)) resolve();
  }

  fail(): void {
    for (const { reject } of this.asked.splice(0)) reject(new Error("the kernel is gone"));
  }
}

function open(): [GrowingSource, FakeCore] {
  const core = new FakeCore();
  const here = { query: (type: string) => `answer to ${type}`, copy: () => "a copy", close: () => {} };
  const supply = { version: "growing", core: () => Promise.reject(new Error("nothing is fetched")) };
  return [new GrowingSource(here as unknown as WasmSource, core as unknown as Core, supply), core];
}

const neighbour = { id: 1, direction: "next" } as const;

test("what is drawn at first waits for nothing", () => {
  const [source] = open();
  assert.equal(source.query("overview", {}), "answer to overview");
  assert.equal(source.query("neighbour", neighbour as never), "answer to neighbour");
  assert.equal(source.copy({}), null);
});

test("what needs the rest is answered when that has come, and at once from then on", async () => {
  const [source, core] = open();
  assert.equal(core.asked.length, 1, "the rest is asked for without being needed");
  const findings = source.query("findings", {});
  core.come();
  assert.equal(await findings, "answer to findings");
  assert.equal(source.query("summary", {}), "answer to summary");
  assert.equal(source.copy({}), "a copy");
});

test("where the rest does not come, who needs it is told, and it is tried again", async () => {
  const [source, core] = open();
  const findings = source.query("findings", {});
  core.fail();
  await assert.rejects(async () => findings, /the kernel is gone/);
  const again = source.query("findings", {});
  core.come();
  assert.equal(await again, "answer to findings");
});
