import { partnersOf, type Told, WasmSource } from "./session";
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

/** Which files belong together, as their heads and names say. */
async function recordings(module: WebAssembly.Module, files: readonly File[]): Promise<readonly Recording[]> {
  const told: Told[] = [];
  for (const file of files) told.push({ name: file.name, ...(await headOf(module, file)) });
  const partners = partnersOf(module, told);
  return files.flatMap((kineto, at) => {
    const execution = files[partners[at] ?? -1];
    if (!told[at]?.is_execution) return [{ kineto, execution }];
    if (execution) return [];
    throw new Error(
      `${kineto.name}: expected the Kineto trace that was recorded with it, found an Execution Trace alone`,
    );
  });
}

// In what comes before the events stand the sort of the file and its rank.
const HEAD_BYTES = 256 * 1024;

interface Head {
  readonly rank: number | null;
  readonly is_execution: boolean;
}

/** What the first bytes tell. What is wrong with them shows when the file is read. */
async function headOf(module: WebAssembly.Module, file: File): Promise<Head> {
  try {
    const head = new WasmSource(module, { kineto: await bytesOf(file.slice(0, HEAD_BYTES)), execution: undefined });
    const { num_events: events, num_nodes: nodes, parts } = head.query("overview", {});
    head.close();
    return { rank: parts[0]?.rank ?? null, is_execution: events === 0 && nodes > 0 };
  } catch {
    return { rank: null, is_execution: false };
  }
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
