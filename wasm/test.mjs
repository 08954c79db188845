// Bundles tests/web/unit/*.test.ts into wasm/dist/tests and runs them in Node, which cannot run
// TypeScript before version 22.
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as esbuild from "esbuild";
import { COMMON, inlineWasm } from "./build/bundle.mjs";
import { DIST, ROOT, TESTS } from "./build/paths.mjs";
import { fail, run } from "./build/run.mjs";

const out = join(DIST, "tests");
const names = existsSync(TESTS) ? readdirSync(TESTS).filter((name) => /\.test\.tsx?$/.test(name)) : [];
if (names.length === 0) fail("expected tests/web/unit/*.test.ts, found none");

rmSync(out, { recursive: true, force: true });
await esbuild.build({
  ...COMMON,
  entryPoints: names.map((name) => join(TESTS, name)),
  format: "esm",
  outdir: out,
  outExtension: { ".js": ".mjs" },
  platform: "node",
  plugins: [inlineWasm()],
  sourcemap: "inline",
});
const files = readdirSync(out).map((name) => join(out, name));
run(process.execPath, ["--enable-source-maps", "--test", ...files], { cwd: ROOT });
