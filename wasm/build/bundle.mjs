import { readFileSync } from "node:fs";
import zopfli from "@gfx/zopfli";
import { transform } from "esbuild";
import { CORE } from "./core.mjs";
import { MODULES } from "./paths.mjs";

/** esbuild options shared by the hosts and the tests. */
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

/** Bytes or a text, gzip-compressed as far as possible. */
export async function packed(content) {
  return Buffer.from(await zopfli.gzipAsync(Buffer.from(content), { numiterations: 15 }));
}

/** Minifies style sheets that scripts carry as text. */
export function minifiedStyles() {
  return {
    name: "minified-styles",
    setup(build) {
      build.onLoad({ filter: /\.css$/ }, async ({ path }) => {
        const { code } = await transform(readFileSync(path, "utf8"), { loader: "css", minify: true });
        return { contents: code, loader: "text" };
      });
    },
  };
}

/** Resolves `import core from "kinetoscope:wasm"` to the compiled core: gzip, then base64. */
export function inlineWasm() {
  return {
    name: "inline-wasm",
    setup(build) {
      build.onResolve({ filter: /^kinetoscope:wasm$/ }, ({ path: name }) => ({ path: name, namespace: "wasm" }));
      build.onLoad({ filter: /.*/, namespace: "wasm" }, async () => {
        return { contents: JSON.stringify((await packed(readFileSync(CORE))).toString("base64")), loader: "json" };
      });
    },
  };
}
