import wasm from "kinetoscope:wasm";
import { fromBase64, gunzip } from "../../../wasm/web/base/bytes";
import { Cell } from "../../../wasm/web/base/cell";
import type { Theme } from "../../../wasm/web/base/palette";
import { openShadow } from "../../../wasm/web/host/shadow";
import { loadCore } from "../../../wasm/web/source/core";
import { WasmSource } from "../../../wasm/web/source/session";
import { type MountedTimeline, mountTimeline } from "../../../wasm/web/timeline/mount";

interface Opened {
  readonly place: HTMLElement;
  readonly mounted: MountedTimeline;
}

const opened: Opened[] = [];
const memories: WebAssembly.Memory[] = [];
const theme = new Cell<Theme>("light");

async function open(snapshot: string): Promise<void> {
  await loadCore("many", () => gunzip(fromBase64(wasm)));
  const source = new WasmSource(fromBase64(snapshot));
  const place = document.createElement("div");
  place.style.height = "300px";
  document.body.append(place);
  const overview = source.query("overview", {});
  opened.push({ place, mounted: mountTimeline(openShadow(place), source, overview, { theme }) });
}

function closeAll(): void {
  for (const { place, mounted } of opened.splice(0)) {
    mounted.close();
    place.remove();
  }
}

// The core's memory grows with its sessions, so it shows how many are open.
const Instance = WebAssembly.Instance;
WebAssembly.Instance = class extends Instance {
  constructor(module: WebAssembly.Module, imports?: WebAssembly.Imports) {
    super(module, imports);
    const { memory } = this.exports;
    memories.push(memory as WebAssembly.Memory);
  }
};

const bytes = () => memories.reduce((sum, memory) => sum + memory.buffer.byteLength, 0);

Object.assign(window, { many: { open, closeAll, bytes } });
