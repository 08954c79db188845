// Bundles a script of this folder, with the core inside, for a page of the browser tests: node
// bundle.mjs IN OUT
import { join } from "node:path";
import { COMMON, inlineWasm } from "../../../wasm/build/bundle.mjs";
import { MODULES } from "../../../wasm/build/paths.mjs";

const esbuild = await import(join(MODULES, "esbuild/lib/main.js"));
const [, , entry, outfile] = process.argv;
const plugins = [inlineWasm()];
await esbuild.build({ ...COMMON, entryPoints: [entry], format: "iife", outfile, plugins });
