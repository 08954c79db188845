/**
 * The container through which JupyterLab and Notebook load the extension, as webpack's module
 * federation asks for it: `init` takes the packages that the application shares, and `get` returns
 * the factory of a module.
 */
import { pluginsOf } from "./plugin";
import type { SharedScope } from "./shared";

interface Container {
  init(scope: SharedScope): void;
  get(module: string): Promise<() => unknown>;
}

/** The address of the folder with this script. */
const ADDRESS =
  document.currentScript instanceof HTMLScriptElement ? document.currentScript.src.replace(/[^/]*$/, "") : "";

let shared: SharedScope = {};

const container: Container = {
  init(scope) {
    shared = scope;
  },
  async get(module) {
    if (module !== "./extension") throw new Error(`expected the module ./extension, found ${module}`);
    const plugins = await pluginsOf(shared, ADDRESS);
    return () => ({ __esModule: true, default: plugins });
  },
};

const page = globalThis as { _JUPYTERLAB?: Record<string, Container> };
page._JUPYTERLAB = Object.assign(page._JUPYTERLAB ?? {}, { kinetoscope: container });
