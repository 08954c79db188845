import { initSync, recordingsOf as placesOf, type Recordings, Session } from "../../dist/kinetoscope_wasm.js";
import { decodeAnswer } from "./answer";
import type { Answer, Ask, RequestType } from "./protocol";
import type { TakenAway, Wanted } from "./source";

type ModuleCache = Map<string, Promise<WebAssembly.Module>>;

// Jupyter evaluates the widget's module once per output: what is costly is kept by the page, not by the module.
const CACHE = Symbol.for("kinetoscope.modules");

function moduleCache(): ModuleCache {
  const page = globalThis as { [CACHE]?: ModuleCache };
  page[CACHE] ??= new Map();
  return page[CACHE];
}

/** Compiles the core, once per page and `version`. */
export function compile(version: string, wasm: () => Promise<Uint8Array<ArrayBuffer>>): Promise<WebAssembly.Module> {
  const cache = moduleCache();
  const known = cache.get(version);
  if (known !== undefined) return known;
  const module = wasm().then((bytes) => WebAssembly.compile(bytes));
  cache.set(version, module);
  // A failure (memory, a policy) may be gone at the next try.
  module.catch(() => cache.delete(version));
  return module;
}

// The smallest module that there is.
const EMPTY = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

/** Whether WebAssembly is there and the page's policy lets it run. */
export async function canCompile(): Promise<boolean> {
  try {
    await WebAssembly.compile(EMPTY);
    return true;
  } catch {
    return false;
  }
}

/** A trace for a screen. */
export interface Snapshot {
  readonly bytes: Uint8Array;
  /** What it is called, if it is called anything. */
  readonly name: string;
  /** For a trace that does not tell it itself. */
  readonly rank: number | null;
}

/** A trace in files as they are, plain or gzip. */
export interface TraceFiles {
  readonly kineto: Uint8Array;
  readonly execution: Uint8Array | undefined;
}

/** The first bytes of a file. */
export interface Head {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Which files belong together. */
export function recordingsOf(module: WebAssembly.Module, heads: readonly Head[]): Recordings {
  initSync({ module });
  return placesOf(
    heads.map(({ name }) => name),
    heads.map(({ bytes }) => bytes),
  );
}

const alone = (bytes: Uint8Array): readonly Snapshot[] => [{ bytes, name: "", rank: null }];

/** The core in this page, holding one trace or several. */
export class WasmSource implements TakenAway {
  readonly #module: WebAssembly.Module;
  readonly #session: Session;
  readonly #encoder = new TextEncoder();
  #open = true;

  constructor(module: WebAssembly.Module, traces: Uint8Array | readonly Snapshot[] | TraceFiles | Session) {
    initSync({ module });
    this.#module = module;
    if (traces instanceof Session) {
      this.#session = traces;
      return;
    }
    if ("kineto" in traces) {
      this.#session = Session.read(traces.kineto, traces.execution);
      return;
    }
    this.#session = new Session();
    const parts = traces instanceof Uint8Array ? alone(traces) : traces;
    for (const { bytes, name, rank } of parts) this.#session.add(bytes, name, rank ?? undefined);
  }

  copy(wanted: Wanted): WasmSource {
    const request = this.#encoder.encode(JSON.stringify(wanted));
    return new WasmSource(this.#module, this.#session.copy(request));
  }

  chrome(part: number): Uint8Array<ArrayBuffer> {
    return this.#session.chrome(part) as Uint8Array<ArrayBuffer>;
  }

  snapshot(part: number): Uint8Array {
    return this.#session.snapshot(part);
  }

  query<T extends RequestType>(type: T, ask: Ask<T>): Answer<T> {
    if (!this.#open) throw new Error("expected an open session, found a closed one");
    const request = this.#encoder.encode(JSON.stringify({ type, ...ask }));
    return decodeAnswer(type, this.#session.query(request));
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#session.free();
  }
}
