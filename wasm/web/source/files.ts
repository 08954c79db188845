import { recordingsOf, WasmSource } from "./session";
import { messageOf } from "./source";

/** Files that were read. */
export interface FilesRead {
  readonly source: WasmSource;
  /** What the Kineto traces are called. */
  readonly names: readonly string[];
}

/** A Kineto trace, perhaps with its Execution Trace. */
interface Recording {
  readonly kineto: File;
  readonly execution: File | undefined;
}

const bytesOf = async (file: Blob) => new Uint8Array(await file.arrayBuffer());

/** Reads Kineto traces, each perhaps with its Execution Trace: one, or those of several ranks or runs. */
export async function readAll(module: WebAssembly.Module, files: readonly File[]): Promise<FilesRead> {
  const [first, ...more] = await recordings(module, files);
  if (!first) throw new Error("expected a Kineto trace, found no file");
  const names = [first, ...more].map(({ kineto }) => kineto.name);
  if (more.length === 0) return { source: await read(module, first), names };
  const traces = [];
  for (const recording of [first, ...more]) {
    const name = recording.kineto.name;
    try {
      traces.push({ bytes: await snapshotOf(module, recording), name, rank: null });
    } catch (error) {
      throw new Error(`${name}: ${messageOf(error)}`);
    }
  }
  return { source: new WasmSource(module, traces), names };
}

// In what comes before the events stand the sort of the file and its rank.
const HEAD_BYTES = 256 * 1024;

/** Which files belong together, as their heads and names say. */
async function recordings(module: WebAssembly.Module, files: readonly File[]): Promise<readonly Recording[]> {
  const heads = files.map(async (file) => ({ name: file.name, bytes: await bytesOf(file.slice(0, HEAD_BYTES)) }));
  return recordingsOf(module, await Promise.all(heads)).map((places) => {
    const [kineto, execution] = [places.kineto, places.execution].map((at) => (at === undefined ? at : files[at]));
    if (kineto) return { kineto, execution };
    throw new Error(
      `${execution?.name}: expected the Kineto trace that was recorded with it, found an Execution Trace alone`,
    );
  });
}

async function read(module: WebAssembly.Module, { kineto, execution }: Recording): Promise<WasmSource> {
  return new WasmSource(module, {
    kineto: await bytesOf(kineto),
    execution: execution && (await bytesOf(execution)),
  });
}

async function snapshotOf(module: WebAssembly.Module, recording: Recording): Promise<Uint8Array> {
  const alone = await read(module, recording);
  try {
    return alone.snapshot(0);
  } finally {
    alone.close();
  }
}
