import { spawnSync } from "node:child_process";

/** Ends the build with one line: expected and found. */
export function fail(message) {
  console.error(`build: error: ${message}`);
  process.exit(1);
}

/** Runs a command and returns whether it exited with code 0. */
export function tryRun(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { stdio: "inherit", ...options });
  if (error) fail(`${command}: ${error.message}`);
  return status === 0;
}

/** Runs a command and ends the build when it fails. */
export function run(command, args, options = {}) {
  if (!tryRun(command, args, options)) fail(`${command} ${args.join(" ")}: expected exit code 0`);
}
