// usage: node ask.mjs GLUE MODULE,... SNAPSHOT,... < REQUESTS
//
// Loads the snapshots, of ranks from 0 on, into these modules of the compiled core, and none else, and answers each line: a request of the host
// seam, or what is taken away ({"take": "chrome" | "snapshot" | "copy"}). Prints the digest of each answer.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [glue, modules, snapshots] = process.argv.slice(2);
const { initSync, Session } = await import(pathToFileURL(glue));
const [first, ...later] = modules.split(",").map((path) => new WebAssembly.Module(readFileSync(path)));
const main = initSync({ module: first });
for (const module of later) new WebAssembly.Instance(module, { main });

const session = new Session();
for (const [rank, path] of snapshots.split(",").entries()) session.add(readFileSync(path), "", rank);
const bytes = (value) => new TextEncoder().encode(JSON.stringify(value));
const taken = {
  chrome: () => session.chrome(0),
  snapshot: () => session.snapshot(0),
  copy: () => session.copy(bytes({ redacted: true })).query(bytes({ type: "overview" })),
};
for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const asked = JSON.parse(line);
  const answer = asked.take ? taken[asked.take]() : session.query(bytes(asked));
  process.stdout.write(`${createHash("sha256").update(answer).digest("hex")}\n`);
}
