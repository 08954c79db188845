import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LATER } from "./parts.mjs";
import { BUILD, DIST, MODULES, ROOT } from "./paths.mjs";
import { capture, fail, run, runAll, tryRun } from "./run.mjs";
import { split } from "./split.mjs";

const NAME = "kinetoscope_wasm";
const COMPILED = join(ROOT, "target/wasm/wasm32-unknown-unknown/web", `${NAME}.wasm`);
const BOUND = join(DIST, `${NAME}_bg.wasm`);
const STAMP = join(DIST, `${NAME}.stamp`);
const WASM_OPT = join(MODULES, "binaryen/bin/wasm-opt");

/** The modules that the core is compiled to, in the order that a page needs them, by their names: the paths in wasm/dist. */
export const CORE = Object.fromEntries(
  ["kinetoscope", ...LATER.map(({ name }) => name)].map((name) => [name, join(DIST, `${name}.wasm`)]),
);

/** Compiles the core and writes its JavaScript glue and the modules of `CORE` to wasm/dist. */
export async function buildCore() {
  run("scripts/wasm-toolchain.sh", ["build", "--package", "kinetoscope-wasm", "--profile", "web"], { cwd: ROOT });
  const version = lockedVersion("wasm-bindgen");
  const sources = [COMPILED, ...["core", "parts", "split"].map((name) => join(BUILD, `${name}.mjs`))];
  const stamp = `${sources.map(digest).join(" ")} ${version}\n`;
  if (Object.values(CORE).every(existsSync) && existsSync(STAMP) && readFileSync(STAMP, "utf8") === stamp) return;

  mkdirSync(DIST, { recursive: true });
  run(bindgen(version), [COMPILED, "--target", "web", "--omit-default-module-path", "--out-dir", DIST]);
  const modules = split(readFileSync(BOUND), callsIn(BOUND));
  const named = modules.map(({ name, bytes }) => ({ path: join(DIST, `${name}.named.wasm`), bytes, name }));
  for (const { path, bytes } of named) writeFileSync(path, bytes);
  await runAll(
    named.map(({ path, name }) => [process.execPath, [WASM_OPT, "-Oz", "--converge", path, "-o", CORE[name]]]),
  );
  for (const { path } of named) rmSync(path);
  writeFileSync(STAMP, stamp);
}

/** Which functions each function of the module calls by name. */
function callsIn(path) {
  const calls = new Map();
  for (const line of capture(process.execPath, [WASM_OPT, path, "--print-call-graph"]).split("\n")) {
    const [, from, to] = line.match(/^ {2}"(.*)" -> "(.*)"; \/\/ call$/) ?? [];
    if (from === undefined) continue;
    const known = calls.get(from);
    if (known) known.push(to);
    else calls.set(from, [to]);
  }
  return calls.size > 0 ? calls : fail(`${path}: expected calls in what wasm-opt prints, found none`);
}

const digest = (path) => createHash("sha256").update(readFileSync(path)).digest("hex");

function bindgen(version) {
  const root = join(ROOT, ".cache", `wasm-bindgen-${version}`);
  const tool = join(root, "bin/wasm-bindgen");
  if (existsSync(tool)) return tool;

  const build = join(ROOT, "target/tools");
  // Unoptimised: it works for a fraction of a second, and compiles in half the time.
  const install = ["install", "wasm-bindgen-cli", "--debug", "--bin", "wasm-bindgen", "--version", version];
  const args = [...install, "--root", root, "--target-dir", build];
  const options = { env: { ...process.env, CARGO_PROFILE_DEV_DEBUG: "0" } };
  // Its own lockfile may name versions that a registry mirror does not carry.
  if (!tryRun("cargo", [...args, "--locked"], options)) run("cargo", args, options);
  rmSync(build, { recursive: true, force: true });
  return tool;
}

function lockedVersion(name) {
  const lock = readFileSync(join(ROOT, "Cargo.lock"), "utf8");
  const found = lock.match(new RegExp(`name = "${name}"\\nversion = "([^"]+)"`));
  return found?.[1] ?? fail(`Cargo.lock: expected a package ${name}, found none`);
}
