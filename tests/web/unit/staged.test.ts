import assert from "node:assert/strict";
import { test } from "node:test";
import type { Setup } from "../../../wasm/web/source/protocol";
import { Dropped, type Source } from "../../../wasm/web/source/source";
import { StagedSource } from "../../../wasm/web/source/staged";

/** Answers each request on demand, with the options of the request. */
class Slow {
  readonly #waiting: (() => void)[] = [];

  query(_type: string, ask: Setup): Promise<Setup> {
    return new Promise((resolve) => this.#waiting.push(() => resolve({ align: ask.align, frames: ask.frames })));
  }

  answer(): void {
    this.#waiting.shift()?.();
  }
}

function staged(): { readonly slow: Slow; readonly source: StagedSource } {
  const slow = new Slow();
  return { slow, source: new StagedSource(slow as unknown as Source, { align: "clocks" }) };
}

test("an answer for old options is requested again", async () => {
  const { slow, source } = staged();
  const answer = source.query("findings", {});
  source.setup = { align: "start" };
  slow.answer();
  await Promise.resolve();
  slow.answer();
  assert.deepEqual(await answer, { align: "start", frames: undefined });
});

test("tiles for old options are dropped", async () => {
  const { slow, source } = staged();
  const answer = source.query("tiles", { tracks: [0], start: 0, end: 1, pixels: 1 });
  source.setup = { align: "start" };
  slow.answer();
  await assert.rejects(Promise.resolve(answer), Dropped);
});
