import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BUILD, DIST, MODULES, ROOT } from "./paths.mjs";
import { fail, run, tryRun } from "./run.mjs";

const NAME = "kinetoscope_wasm";
const COMPILED = join(ROOT, "target/wasm/wasm32-unknown-unknown/web", `${NAME}.wasm`);
const BOUND = join(DIST, `${NAME}_bg.wasm`);
const STAMP = join(DIST, `${NAME}.stamp`);
const WASM_OPT = join(MODULES, "binaryen/bin/wasm-opt");

const SMALLER = [
  "--low-memory-unused", // data begins behind the stack, at a megabyte
  "--flatten",
  "--rereloop",
  "-Oz",
  "-Oz", // the first one leaves work to a second
  "--reorder-functions-by-name", // those of the same generic code side by side, where gzip sees that they are alike
];

/** The compiled core. */
export const CORE = join(DIST, "kinetoscope.wasm");

/** Compiles the core and writes it, with its JavaScript glue, to wasm/dist. */
export function buildCore() {
  run("scripts/wasm-toolchain.sh", ["build", "--package", "kinetoscope-wasm", "--profile", "web"], { cwd: ROOT });
  const version = lockedVersion("wasm-bindgen");
  const stamp = `${[COMPILED, join(BUILD, "core.mjs")].map(digest).join(" ")} ${version}\n`;
  if (existsSync(CORE) && existsSync(STAMP) && readFileSync(STAMP, "utf8") === stamp) return;

  rmSync(DIST, { recursive: true, force: true });
  mkdirSync(DIST, { recursive: true });
  run(bindgen(version), [COMPILED, "--target", "web", "--omit-default-module-path", "--out-dir", DIST]);
  run(process.execPath, [WASM_OPT, ...SMALLER, BOUND, "-o", CORE]);
  writeFileSync(STAMP, stamp);
}

const digest = (path) => createHash("sha256").update(readFileSync(path)).digest("hex");

function bindgen(version) {
  const root = join(ROOT, ".cache", `wasm-bindgen-${version}`);
  const tool = join(root, "bin/wasm-bindgen");
  if (existsSync(tool)) return tool;

  const build = join(ROOT, "target/tools");
  // A debug build compiles in half the time, and the tool runs for a fraction of a second.
  const install = ["install", "wasm-bindgen-cli", "--debug", "--bin", "wasm-bindgen", "--version", version];
  const args = [...install, "--root", root, "--target-dir", build];
  const options = { env: { ...process.env, CARGO_PROFILE_DEV_DEBUG: "0" } };
  // The tool's own lockfile may name versions that a registry mirror does not carry.
  if (!tryRun("cargo", [...args, "--locked"], options)) run("cargo", args, options);
  rmSync(build, { recursive: true, force: true });
  return tool;
}

function lockedVersion(name) {
  const lock = readFileSync(join(ROOT, "Cargo.lock"), "utf8");
  const found = lock.match(new RegExp(`name = "${name}"\\nversion = "([^"]+)"`));
  return found?.[1] ?? fail(`Cargo.lock: expected a package ${name}, found none`);
}
