// cargo → wasm-bindgen → wasm-opt → esbuild: widget.js, viewer.js, page.js, style.css and kinetoscope.wasm.gz in the Python package.
// --core stops once the compiled core and its JavaScript glue are in wasm/dist.
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import * as esbuild from "esbuild";
import { COMMON, packed } from "./build/bundle.mjs";
import { buildCore } from "./build/core.mjs";
import { ROOT, STATIC, WEB } from "./build/paths.mjs";
import { fail } from "./build/run.mjs";

// The compiled core is carried packed, in every report and once by each page of a notebook, and unpacked in the browser:
// 1.8 MB there, of which the reader, the links and the timeline take a third, and the analyses, so that a report answers by
// itself, most of the rest.
// A notebook keeps widget.js for every output that it has shown, viewer.js and the compiled core once.
const BUDGETS = { "kinetoscope.wasm.gz": 900_000, "widget.js": 12_000, "viewer.js": 200_000 };

const OUTPUTS = [
  { entry: "host/widget.ts", file: "widget.js", options: { format: "esm" } },
  { entry: "host/viewer.ts", file: "viewer.js", options: { format: "esm" } },
  { entry: "host/page.ts", file: "page.js", options: { format: "iife" } },
  { entry: "style.css", file: "style.css", options: { loader: { ".css": "css" } } },
];

const wasm = buildCore();
if (!process.argv.includes("--core")) {
  rmSync(STATIC, { recursive: true, force: true });
  mkdirSync(STATIC, { recursive: true });
  writeFileSync(join(STATIC, "kinetoscope.wasm.gz"), packed(wasm));
  for (const output of OUTPUTS) await bundle(output);
  for (const [file, budget] of Object.entries(BUDGETS)) weigh(file, budget);
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

function weigh(file, budget) {
  const size = statSync(join(STATIC, file)).size;
  if (size > budget) fail(`${file}: expected at most ${budget} bytes, found ${size}`);
  console.log(`${file}: ${size} bytes of ${budget}`);
}
