// usage: node ask.mjs GLUE MODULE SNAPSHOT,... < REQUESTS
//
// Loads the snapshots into the compiled core, as ranks 0, 1, …, and prints each answer's SHA-256.
// Each line of input is a request of the protocol, or an export:
// {"export": "analyses" | "chrome" | "snapshot" | "copy"}. "analyses" are the list as JSON.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [glue, module, snapshots] = process.argv.slice(2);
const { initSync, Session } = await import(pathToFileURL(glue));
initSync({ module: new WebAssembly.Module(readFileSync(module)) });

const session = new Session();
for (const [rank, path] of snapshots.split(",").entries()) session.add(readFileSync(path), "", rank);
const bytes = (value) => new TextEncoder().encode(JSON.stringify(value));
const json = (answer) => {
  const end = 4 + new DataView(answer.buffer, answer.byteOffset).getUint32(0, true);
  return JSON.parse(new TextDecoder().decode(answer.subarray(4, end)));
};
const exported = {
  analyses: () => JSON.stringify(json(session.query(bytes({ type: "analyses" }))).data.analyses),
  chrome: () => session.chrome(0),
  snapshot: () => session.snapshot(0),
  copy: () => session.copy(bytes({ redacted: true })).query(bytes({ type: "overview" })),
};
for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const request = JSON.parse(line);
  const answer = request.export ? exported[request.export]() : session.query(bytes(request));
  process.stdout.write(`${createHash("sha256").update(answer).digest("hex")}\n`);
}
