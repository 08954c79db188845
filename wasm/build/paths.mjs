import { fileURLToPath } from "node:url";

const folder = (relative) => fileURLToPath(new URL(relative, import.meta.url));

export const ROOT = folder("../../");
export const WASM = folder("../");
export const BUILD = folder("./");
export const WEB = folder("../web/");
export const DIST = folder("../dist/");
export const STATIC = folder("../../py/python/kinetoscope/_static/");
export const LAB = folder("../../py/jupyter/data/share/jupyter/labextensions/kinetoscope/");
export const MODULES = folder("../node_modules/");
export const TESTS = folder("../../tests/web/unit/");
