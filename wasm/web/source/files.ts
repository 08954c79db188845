import type { Core } from "./core";
import { recordingsOf, type Snapshot, WasmSource } from "./session";
import { messageOf } from "./source";

/** Files that were read. */
export interface FilesRead {
  readonly source: WasmSource;
  /** What the traces are called. */
  readonly names: readonly string[];
  /** What is not among them, and why. */
  readonly leftOut: readonly LeftOut[];
}

interface LeftOut {
  readonly name: string;
  readonly why: string;
}

/** A Kineto trace, perhaps with its Execution Trace. */
interface Recording {
  readonly kineto: File;
  readonly execution: File | undefined;
  readonly rank: number | null;
}

const bytesOf = async (file: Blob) => new Uint8Array(await file.arrayBuffer());
const ALONE = "expected the Kineto trace that was recorded with it, found an Execution Trace alone";

/**
 * Reads Kineto traces, each perhaps with its Execution Trace: one, or those of several ranks or runs. What is not to be read beside
 * others is left out; rejects when nothing is left. The core must have its reader.
 */
export async function readAll(core: Core, files: readonly File[]): Promise<FilesRead> {
  const found = await recordings(files);
  const leftOut = [...found.leftOut];
  const [only, ...more] = found.whole;
  if (only && more.length === 0) return { source: await read(core, only), names: [only.kineto.name], leftOut };
  const traces: Snapshot[] = [];
  for (const recording of found.whole) {
    const { name } = recording.kineto;
    try {
      traces.push({ name, ...(await snapshotOf(core, recording)) });
    } catch (error) {
      leftOut.push({ name, why: messageOf(error) });
      if (recording.execution) leftOut.push({ name: recording.execution.name, why: `it goes with ${name}` });
    }
  }
  const [first] = leftOut;
  if (traces.length === 0)
    throw new Error(first ? `${first.name}: ${first.why}` : "expected a Kineto trace, found no file");
  return { source: new WasmSource(core, ranked(traces)), names: traces.map(({ name }) => name), leftOut };
}

/** Several are told apart by their ranks: who has none has the next one that is free. */
function ranked(traces: readonly Snapshot[]): readonly Snapshot[] {
  const taken = new Set(traces.map(({ rank }) => rank));
  let next = 0;
  return traces.map((trace) => {
    if (traces.length === 1 || trace.rank !== null) return trace;
    while (taken.has(next)) next++;
    return { ...trace, rank: next++ };
  });
}

// In what comes before the events stand the sort of the file and its rank.
const HEAD_BYTES = 256 * 1024;

interface Found {
  readonly whole: readonly Recording[];
  /** Execution Traces without a Kineto trace, and what is there in another form. */
  readonly leftOut: readonly LeftOut[];
}

/** Which files belong together, as their heads and names say. */
async function recordings(files: readonly File[]): Promise<Found> {
  const heads = files.map(async (file) => ({ name: file.name, bytes: await bytesOf(file.slice(0, HEAD_BYTES)) }));
  const { recordings, copies } = recordingsOf(await Promise.all(heads));
  const whole: Recording[] = [];
  const leftOut = copies.map(([place, why]) => ({ name: files[place]?.name ?? "", why }));
  for (const { kineto: place, execution: other, rank = null } of recordings) {
    const [kineto, execution] = [place, other].map((at) => (at === undefined ? at : files[at]));
    if (kineto) whole.push({ kineto, execution, rank });
    else if (execution) leftOut.push({ name: execution.name, why: ALONE });
  }
  return { whole, leftOut };
}

async function read(core: Core, { kineto, execution }: Recording): Promise<WasmSource> {
  return new WasmSource(core, {
    kineto: await bytesOf(kineto),
    execution: execution && (await bytesOf(execution)),
  });
}

async function snapshotOf(core: Core, recording: Recording): Promise<Omit<Snapshot, "name">> {
  const alone = await read(core, recording);
  try {
    const [part] = alone.query("overview", {}).parts;
    return { bytes: alone.snapshot(0), rank: part?.rank ?? recording.rank };
  } finally {
    alone.close();
  }
}
