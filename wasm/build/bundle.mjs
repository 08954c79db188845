import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { CORE } from "./core.mjs";
import { MODULES } from "./paths.mjs";

/** Options that the two hosts and the tests share. */
export const COMMON = {
  bundle: true,
  charset: "utf8",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  loader: { ".css": "text" },
  logLevel: "warning",
  nodePaths: [MODULES],
  target: ["es2022"],
};

/** The module at `path` as it travels: gzip. */
export function packed(path) {
  return gzipSync(readFileSync(path), { level: 9 });
}

/** Answers `import core from "kinetoscope:wasm"` with the modules of `CORE` by their names: gzip, then base64. */
export function inlineWasm() {
  return {
    name: "inline-wasm",
    setup(build) {
      build.onResolve({ filter: /^kinetoscope:wasm$/ }, ({ path: name }) => ({ path: name, namespace: "wasm" }));
      build.onLoad({ filter: /.*/, namespace: "wasm" }, () => {
        const modules = Object.entries(CORE).map(([name, path]) => [name, packed(path).toString("base64")]);
        return { contents: JSON.stringify(Object.fromEntries(modules)), loader: "json" };
      });
    },
  };
}
