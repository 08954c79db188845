// cargo → wasm-bindgen → wasm-opt → esbuild: writes the compiled core, widget.js, viewer.js, unpack.js
// and style.css to the Python package. --core stops after the compiled core and its JavaScript glue.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import * as esbuild from "esbuild";
import { COMMON, minifiedStyles, packed } from "./build/bundle.mjs";
import { buildCore, CORE } from "./build/core.mjs";
import { ROOT, STATIC, WEB } from "./build/paths.mjs";
import { fail } from "./build/run.mjs";

// Bytes of all files together as they travel: compressed with gzip.
const TOTAL_BUDGET = 1_400_000;
// Bytes as saved: a notebook stores this script once per output.
const WIDGET_BUDGET = 12_000;

// Packages that a wheel may contain: the notices name them.
const { dependencies } = JSON.parse(readFileSync(join(ROOT, "wasm/package.json"), "utf8"));

const WASM = "kinetoscope.wasm.gz";
const OUTPUTS = [
  { entry: "host/widget.ts", file: "widget.js", options: { format: "esm", plugins: [minifiedStyles()] } },
  { entry: "host/bundle.ts", file: "viewer.js", options: { format: "esm", plugins: [minifiedStyles()] } },
  { entry: "host/unpack.ts", file: "unpack.js", options: { format: "iife" } },
  { entry: "style.css", file: "style.css", options: { loader: { ".css": "css" } } },
];

buildCore();
if (!process.argv.includes("--core")) {
  rmSync(STATIC, { recursive: true, force: true });
  mkdirSync(STATIC, { recursive: true });
  writeFileSync(join(STATIC, WASM), await packed(CORE));
  for (const output of OUTPUTS) await bundle(output);
  check("widget.js", statSync(join(STATIC, "widget.js")).size, WIDGET_BUDGET);
  check("all files, gzip", await transferSize(), TOTAL_BUDGET);
}

async function bundle({ entry, file, options }) {
  const source = join(WEB, entry);
  if (!existsSync(source)) fail(`expected ${relative(ROOT, source)}, found no such file`);
  const { metafile } = await esbuild.build({
    ...COMMON,
    ...options,
    entryPoints: [source],
    metafile: true,
    minify: true,
    outfile: join(STATIC, file),
  });
  for (const input of Object.keys(metafile.inputs)) {
    const name = input.match(/.*\bnode_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1];
    if (name && !(name in dependencies)) fail(`${file}: expected packages in "dependencies", found ${name}`);
  }
}

/** Prints the compressed size of each file and returns their sum, in bytes. */
async function transferSize() {
  let total = 0;
  for (const file of readdirSync(STATIC)) {
    const path = join(STATIC, file);
    const size = file.endsWith(".gz") ? statSync(path).size : (await packed(path)).length;
    console.log(`${file}: ${size} bytes, gzip`);
    total += size;
  }
  return total;
}

function check(name, size, budget) {
  if (size > budget) fail(`${name}: expected at most ${budget} bytes, found ${size}`);
  console.log(`${name}: ${size} bytes of ${budget}`);
}
