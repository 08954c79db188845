import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
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

/** Answers `import base64 from "kinetoscope:wasm"` with the module at `path`: gzip, then base64. */
export function inlineWasm(path) {
  return {
    name: "inline-wasm",
    setup(build) {
      build.onResolve({ filter: /^kinetoscope:wasm$/ }, ({ path: name }) => ({ path: name, namespace: "wasm" }));
      build.onLoad({ filter: /.*/, namespace: "wasm" }, () => {
        const base64 = packed(path).toString("base64");
        return { contents: `export default ${JSON.stringify(base64)};`, loader: "js" };
      });
    },
  };
}
