// cargo → wasm-bindgen → wasm-opt → esbuild: writes the compiled core, the scripts of notebooks and the
// shells of pages to the Python package, and the extension of JupyterLab beside it. --core stops after
// the compiled core and its JavaScript glue.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import * as esbuild from "esbuild";
import { COMMON, minifiedStyles, packed } from "./build/bundle.mjs";
import { buildCore, CORE } from "./build/core.mjs";
import { emptyPage, livePage, staticPage } from "./build/page.mjs";
import { LAB, ROOT, STATIC, WEB } from "./build/paths.mjs";
import { fail } from "./build/run.mjs";

// Bytes of all files together as they travel: compressed with gzip.
const TOTAL_BUDGET = 1_400_000;
// Bytes as saved: a notebook stores this script once per output.
const WIDGET_BUDGET = 12_000;

// Packages that a wheel may contain: the notices name them.
const { dependencies, version, description, license } = JSON.parse(
  readFileSync(join(ROOT, "wasm/package.json"), "utf8"),
);

const SCRIPTS = {
  widget: { entry: "host/widget.ts", options: { format: "esm", plugins: [minifiedStyles()] } },
  viewer: { entry: "host/bundle.ts", options: { format: "esm", plugins: [minifiedStyles()] } },
  unpack: { entry: "host/unpack.ts", options: { format: "iife" } },
  style: { entry: "style.css", options: { loader: { ".css": "css" } } },
  lab: { entry: "lab/remote-entry.ts", options: { format: "iife" } },
};

buildCore();
if (!process.argv.includes("--core")) {
  const core = await packed(readFileSync(CORE));
  const built = {};
  for (const name of Object.keys(SCRIPTS)) built[name] = await bundle(SCRIPTS[name]);
  const live = await livePage(built);
  for (const folder of [STATIC, join(LAB, "static")]) rmSync(folder, { recursive: true, force: true });
  write(STATIC, {
    "kinetoscope.wasm.gz": core,
    "widget.js": built.widget,
    "viewer.js": built.viewer,
    "page.html": live,
    "static.html": staticPage(built.style),
  });
  write(LAB, extension(built.lab, emptyPage(live, core)));
  check("widget.js", Buffer.byteLength(built.widget), WIDGET_BUDGET);
  check("all files, gzip", await transferSize(core, built), TOTAL_BUDGET);
}

/** The bundle of an entry, minified. */
async function bundle({ entry, options }) {
  const source = join(WEB, entry);
  if (!existsSync(source)) fail(`expected ${relative(ROOT, source)}, found no such file`);
  const { metafile, outputFiles } = await esbuild.build({
    ...COMMON,
    ...options,
    entryPoints: [source],
    metafile: true,
    minify: true,
    write: false,
  });
  for (const input of Object.keys(metafile.inputs)) {
    const name = input.match(/.*\bnode_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1];
    if (name && !(name in dependencies)) fail(`${entry}: expected packages in "dependencies", found ${name}`);
  }
  return outputFiles[0].text;
}

/** The built files of the extension that JupyterLab and Notebook find below share/jupyter. */
function extension(script, page) {
  const entry = `static/remoteEntry.${createHash("sha256").update(script).digest("hex").slice(0, 16)}.js`;
  const facts = {
    name: "kinetoscope",
    version,
    description,
    license,
    // JupyterLab refuses the extension where these do not fit.
    dependencies: { "@jupyterlab/docregistry": "^4.0.0" },
    jupyterlab: { extension: true, _build: { load: entry, extension: "./extension" } },
  };
  return {
    "package.json": JSON.stringify(facts, null, 2),
    [entry]: script,
    "static/view.html": page,
  };
}

function write(folder, files) {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
}

/** Prints the compressed size of the core and of each script, and returns their sum, in bytes. */
async function transferSize(core, built) {
  const sizes = { core: core.length };
  for (const [name, content] of Object.entries(built)) sizes[name] = (await packed(content)).length;
  for (const [name, size] of Object.entries(sizes)) console.log(`${name}: ${size} bytes, gzip`);
  return Object.values(sizes).reduce((total, size) => total + size, 0);
}

function check(name, size, budget) {
  if (size > budget) fail(`${name}: expected at most ${budget} bytes, found ${size}`);
  console.log(`${name}: ${size} bytes of ${budget}`);
}
