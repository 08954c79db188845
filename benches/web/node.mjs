// usage: node node.mjs GLUE MODULE TRACE [REQUEST...]
//
// Loads the trace once per line of input and prints the milliseconds; with requests, those of their answers.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { loader } from "./load.mjs";

const [glue, module, trace, ...requests] = process.argv.slice(2);
const load = await loader(await import(pathToFileURL(glue)), readFileSync(module), readFileSync(trace), requests);
for await (const _ of createInterface({ input: process.stdin })) console.log(load());
