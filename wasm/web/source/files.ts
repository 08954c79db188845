import { WasmSource } from "./session";
import { messageOf } from "./source";

/** Files that were read. */
export interface FilesRead {
  readonly source: WasmSource;
  /** What each of the traces is called; nothing of one alone. */
  readonly names: readonly string[];
}

const bytesOf = async (file: File) => new Uint8Array(await file.arrayBuffer());

/** Reads a Kineto trace, perhaps with its Execution Trace, or the Kineto traces of several ranks or runs. */
export async function readAll(module: WebAssembly.Module, files: readonly File[]): Promise<FilesRead> {
  const [first, second, ...more] = files;
  if (!first) throw new Error("expected a Kineto trace, found no file");
  if (more.length > 0) return readEach(module, files);
  try {
    const execution = second && (await bytesOf(second));
    return { source: new WasmSource(module, { kineto: await bytesOf(first), execution }), names: [""] };
  } catch (error) {
    if (!second) throw error;
    // Two that are no pair may be traces of two ranks; where they are not, the pair's error says more.
    return readEach(module, files).catch(() => Promise.reject(error));
  }
}

async function readEach(module: WebAssembly.Module, files: readonly File[]): Promise<FilesRead> {
  const traces = [];
  for (const file of files) {
    try {
      traces.push({ bytes: snapshotOf(module, await bytesOf(file)), name: file.name, rank: null });
    } catch (error) {
      throw new Error(`${file.name}: ${messageOf(error)}`);
    }
  }
  return { source: new WasmSource(module, traces), names: traces.map(({ name }) => name) };
}

function snapshotOf(module: WebAssembly.Module, kineto: Uint8Array): Uint8Array {
  const alone = new WasmSource(module, { kineto, execution: undefined });
  try {
    const { num_events: count } = alone.query("overview", {});
    if (count > 0) return alone.snapshot(0);
    throw new Error("expected a Kineto trace, found no event (an Execution Trace goes with one trace)");
  } finally {
    alone.close();
  }
}
