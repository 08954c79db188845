import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";

/** Ends the build with one line that says what was expected and what was found. */
export function fail(message) {
  console.error(`build: error: ${message}`);
  process.exit(1);
}

/** Runs a command and says whether it ended well. */
export function tryRun(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { stdio: "inherit", ...options });
  if (error) fail(`${command}: ${error.message}`);
  return status === 0;
}

export function run(command, args, options = {}) {
  if (!tryRun(command, args, options)) failed(command, args);
}

/** Runs commands side by side. */
export async function runAll(commands) {
  const ended = commands.map(([command, args]) => once(spawn(command, args, { stdio: "inherit" }), "exit"));
  for (const [at, [status]] of (await Promise.all(ended)).entries()) if (status !== 0) failed(...commands[at]);
}

/** What a command prints. */
export function capture(command, args) {
  const { status, error, stdout } = spawnSync(command, args, {
    stdio: ["ignore", "pipe", "ignore"],
    encoding: "utf8",
    maxBuffer: Number.POSITIVE_INFINITY,
  });
  if (error) fail(`${command}: ${error.message}`);
  return status === 0 ? stdout : failed(command, args);
}

const failed = (command, args) => fail(`${command} ${args.join(" ")}: expected exit code 0`);
