import { type InitOutput, initSync } from "../../dist/kinetoscope_wasm.js";

/** What the core is compiled to, in the order that a page needs it: modules that share the memory of the first. */
export type Part = "kinetoscope" | Later;

/** What analyses need, what reports and copies need, and what files need that are no snapshots. */
export type Later = "analyses" | "sharing" | "reader";

/** The bytes of a module. */
export type Fetch = (part: Part) => Promise<Uint8Array<ArrayBuffer>>;

type ModuleCache = Map<string, Promise<WebAssembly.Module>>;

// Jupyter evaluates the widget's module once per output: what is costly is kept by the page, not by the module.
const CACHE = Symbol.for("kinetoscope.modules");

function moduleCache(): ModuleCache {
  const page = globalThis as { [CACHE]?: ModuleCache };
  page[CACHE] ??= new Map();
  return page[CACHE];
}

/** Compiles a module, once per page and `key`. */
export function compile(key: string, bytes: () => Promise<Uint8Array<ArrayBuffer>>): Promise<WebAssembly.Module> {
  const cache = moduleCache();
  const known = cache.get(key);
  if (known !== undefined) return known;
  const module = bytes().then((bytes) => WebAssembly.compile(bytes));
  cache.set(key, module);
  // A failure (memory, a policy) may be gone at the next try.
  module.catch(() => cache.delete(key));
  return module;
}

const compiled = (version: string, fetch: Fetch, part: Part) => compile(`${version}/${part}`, () => fetch(part));

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

/** The compiled core, or as much of it as is there. There is one, as there is one of its JavaScript. */
export class Core {
  static #only: Core | undefined;
  readonly #first: InitOutput;
  readonly #there = new Set<Later>();

  private constructor(first: WebAssembly.Module) {
    this.#first = initSync({ module: first });
  }

  /** The first module and those named; each is compiled once per page and `version`. */
  static async open(version: string, fetch: Fetch, later: readonly Later[] = []): Promise<Core> {
    const [first] = await Promise.all(
      (["kinetoscope", ...later] as const).map((part) => compiled(version, fetch, part)),
    );
    Core.#only ??= new Core(first as WebAssembly.Module);
    await Core.#only.add(version, fetch, later);
    return Core.#only;
  }

  has(later: readonly Later[]): boolean {
    return later.every((part) => this.#there.has(part));
  }

  /** Brings modules that are not there yet. Who opened the core may be gone: so it is told again where they come from. */
  async add(version: string, fetch: Fetch, later: readonly Later[]): Promise<void> {
    const modules = await Promise.all(later.map(async (part) => [part, await compiled(version, fetch, part)] as const));
    for (const [part, module] of modules) {
      if (this.#there.has(part)) continue;
      // It puts its functions into the table of the first.
      new WebAssembly.Instance(module, { main: this.#first as unknown as WebAssembly.ModuleImports });
      this.#there.add(part);
    }
  }
}
