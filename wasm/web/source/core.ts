import { initSync } from "../../dist/kinetoscope_wasm.js";
import type { Bytes } from "../base/bytes";

type ModuleCache = Map<string, Promise<WebAssembly.Module>>;

// Jupyter evaluates the widget's script once per output, so compiled modules are kept on the page.
const CACHE = Symbol.for("kinetoscope.modules");

function moduleCache(): ModuleCache {
  const page = globalThis as { [CACHE]?: ModuleCache };
  page[CACHE] ??= new Map();
  return page[CACHE];
}

/** Compiles once per page and `version`. Rejects when `fetchBytes` or the browser does. */
function compile(version: string, fetchBytes: () => Promise<Bytes>): Promise<WebAssembly.Module> {
  const cache = moduleCache();
  const known = cache.get(version);
  if (known !== undefined) return known;
  const module = fetchBytes().then((bytes) => WebAssembly.compile(bytes));
  cache.set(version, module);
  // The next attempt may succeed: memory is freed, the kernel is back.
  module.catch(() => cache.delete(version));
  return module;
}

/** Makes the compiled core ready for sessions. Only the first call of a page compiles `version`. */
export async function loadCore(version: string, fetchBytes: () => Promise<Bytes>): Promise<void> {
  initSync({ module: await compile(version, fetchBytes) });
}

// The smallest valid module.
const EMPTY = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

/** Whether the browser has WebAssembly and the page's policy allows it. */
export async function canCompile(): Promise<boolean> {
  try {
    await WebAssembly.compile(EMPTY);
    return true;
  } catch {
    return false;
  }
}
