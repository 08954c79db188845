import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DIST, MODULES, ROOT } from "./paths.mjs";
import { fail, run, tryRun } from "./run.mjs";

const NAME = "kinetoscope_wasm";
const COMPILED = join(ROOT, "target/wasm/wasm32-unknown-unknown/web", `${NAME}.wasm`);
const OPTIMISED = join(DIST, `${NAME}.opt.wasm`);
const STAMP = join(DIST, `${NAME}.stamp`);

/** Compiles the core, writes its JavaScript glue to wasm/dist and returns the path of the optimised module. */
export function buildCore() {
  run("scripts/wasm-toolchain.sh", ["build", "--package", "kinetoscope-wasm", "--profile", "web"], { cwd: ROOT });
  const version = lockedVersion("wasm-bindgen");
  const stamp = `${createHash("sha256").update(readFileSync(COMPILED)).digest("hex")} ${version}\n`;
  if (existsSync(OPTIMISED) && existsSync(STAMP) && readFileSync(STAMP, "utf8") === stamp) return OPTIMISED;

  mkdirSync(DIST, { recursive: true });
  run(bindgen(version), [COMPILED, "--target", "web", "--omit-default-module-path", "--out-dir", DIST]);
  const wasmOpt = join(MODULES, "binaryen/bin/wasm-opt");
  run(process.execPath, [wasmOpt, "-Oz", "--converge", join(DIST, `${NAME}_bg.wasm`), "-o", OPTIMISED]);
  writeFileSync(STAMP, stamp);
  return OPTIMISED;
}

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
