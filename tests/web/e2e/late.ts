import wasm from "kinetoscope:wasm";
import { fromBase64, gunzip } from "../../../wasm/web/base/bytes";
import { Cell } from "../../../wasm/web/base/cell";
import type { Theme } from "../../../wasm/web/base/palette";
import { openShadow } from "../../../wasm/web/host/shadow";
import { loadCore } from "../../../wasm/web/source/core";
import type { Answer, Ask, RequestType } from "../../../wasm/web/source/protocol";
import { WasmSource } from "../../../wasm/web/source/session";
import type { Source } from "../../../wasm/web/source/source";
import { mountTimeline } from "../../../wasm/web/timeline/mount";

/** Answers with a delay, like a distant kernel. */
class LateSource implements Source {
  readonly #source: WasmSource;
  ms: number;

  constructor(source: WasmSource, ms: number) {
    this.#source = source;
    this.ms = ms;
  }

  query<T extends RequestType>(type: T, ask: Ask<T>): Promise<Answer<T>> {
    const answer = this.#source.query(type, ask);
    return new Promise((resolve) => setTimeout(() => resolve(answer), this.ms));
  }

  copy(): null {
    return null;
  }

  close(): void {
    this.#source.close();
  }
}

let source: LateSource | undefined;

/** Shows a trace whose answers take `ms` milliseconds. */
async function open(kineto: string, ms: number, theme: Theme): Promise<void> {
  await loadCore("late", () => gunzip(fromBase64(wasm)));
  const near = new WasmSource({ kineto: fromBase64(kineto), execution: undefined, memory: undefined });
  source = new LateSource(near, ms);
  const place = document.createElement("div");
  place.style.height = "480px";
  document.body.append(place);
  mountTimeline(openShadow(place), source, near.query("overview", {}), { theme: new Cell(theme), name: "run.json" });
}

/** Sets the delay of answers. */
function take(ms: number): void {
  if (source) source.ms = ms;
}

Object.assign(window, { late: { open, take } });
