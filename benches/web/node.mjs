// usage: node node.mjs GLUE TRACE MODULE,... [REQUEST...]
//
// Loads the trace once for every line of its input, and answers each with the milliseconds; with requests, with those that
// it takes to answer them all.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { loader } from "./load.mjs";

const [glue, trace, modules, ...requests] = process.argv.slice(2);
const load = await loader(await import(pathToFileURL(glue)), modules.split(",").map((path) => readFileSync(path)), readFileSync(trace), requests);
for await (const _ of createInterface({ input: process.stdin })) console.log(load());
