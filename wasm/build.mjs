// cargo → wasm-bindgen → wasm-opt → esbuild: widget.js, viewer.js, page.js, style.css and the compiled core in the Python package.
// --core stops once the compiled core and its JavaScript glue are in wasm/dist.
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import * as esbuild from "esbuild";
import { COMMON, packed } from "./build/bundle.mjs";
import { buildCore, CORE } from "./build/core.mjs";
import { ROOT, STATIC, WEB } from "./build/paths.mjs";
import { fail } from "./build/run.mjs";

// Unpacked. The first module is what a picture waits for; in a notebook it comes through a socket, packed.
const CORE_BUDGET = 900_000;
// A notebook keeps widget.js for every output that it has shown, viewer.js and the compiled core once.
const BUDGETS = { "kinetoscope.wasm.gz": 400_000, "widget.js": 12_000, "viewer.js": 200_000 };

const OUTPUTS = [
  { entry: "host/widget.ts", file: "widget.js", options: { format: "esm" } },
  { entry: "host/viewer.ts", file: "viewer.js", options: { format: "esm" } },
  { entry: "host/page.ts", file: "page.js", options: { format: "iife" } },
  { entry: "style.css", file: "style.css", options: { loader: { ".css": "css" } } },
];

await buildCore();
for (const path of Object.values(CORE)) weigh(path, CORE_BUDGET);
if (!process.argv.includes("--core")) {
  rmSync(STATIC, { recursive: true, force: true });
  mkdirSync(STATIC, { recursive: true });
  for (const [name, path] of Object.entries(CORE)) writeFileSync(join(STATIC, `${name}.wasm.gz`), packed(path));
  for (const output of OUTPUTS) await bundle(output);
  for (const [file, budget] of Object.entries(BUDGETS)) weigh(join(STATIC, file), budget);
}

async function bundle({ entry, file, options }) {
  const source = join(WEB, entry);
  if (!existsSync(source)) fail(`expected ${relative(ROOT, source)}, found no such file`);
  await esbuild.build({
    ...COMMON,
    ...options,
    entryPoints: [source],
    minify: true,
    outfile: join(STATIC, file),
  });
}

function weigh(path, budget) {
  const size = statSync(path).size;
  if (size > budget) fail(`${basename(path)}: expected at most ${budget} bytes, found ${size}`);
  console.log(`${basename(path)}: ${size} bytes of ${budget}`);
}
