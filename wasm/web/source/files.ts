import { noRoom } from "../base/room";
import { MemorySource } from "./memory";
import { mayBeMemory, recordingsOf, type Snapshot, WasmSource } from "./session";
import { messageOf } from "./source";

/** Traces read from files. */
export interface FilesRead {
  readonly source: WasmSource;
  /** A name per trace, in the order of the traces; the name of a single file. */
  readonly names: readonly string[];
  /** Files that were skipped, with the reason. */
  readonly skipped: readonly SkippedFile[];
}

interface SkippedFile {
  readonly name: string;
  readonly why: string;
}

/** A Kineto trace, optionally with its Execution Trace and a memory snapshot of the same run. */
interface Recording {
  readonly kineto: File;
  readonly execution: File | undefined;
  readonly memory: File | undefined;
  readonly rank: number | null;
}

// The file's format and rank stand before the events.
const HEAD_BYTES = 256 * 1024;

const headOf = async (file: File) => new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer());

/** The bytes of a file whose head was read: only memory can be missing. */
async function bytesOf(file: File): Promise<Uint8Array> {
  try {
    return new Uint8Array(await file.arrayBuffer());
  } catch {
    throw new Error(noRoom(file.size));
  }
}

/** Formats that a name promises, where that is not JSON. */
const PROMISED: readonly (readonly [RegExp, string])[] = [
  [/\.pickle(\.gz)?$/, "a memory snapshot"],
  [/\.kscope$/, "a saved trace"],
  [/\.(sqlite|rpd|db)$/, "a database"],
  [/(\.pftrace(\.gz)?|\.perfetto-trace)$/, "a Perfetto trace"],
];

/** Runs the core on a file. It knows no names, and stops where memory ends. */
function inCore<T>({ name, size }: File, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) throw new Error(noRoom(size));
    const promised = PROMISED.find(([pattern]) => pattern.test(name))?.[1];
    if (!promised) throw error;
    throw new Error(
      messageOf(error).replace(/^expected a JSON trace.*, found/, `expected ${promised}, by its name, found`),
    );
  }
}
const ALONE = "expected a Kineto trace with this Execution Trace, found none: add the one recorded with it";

/** A memory snapshot that was chosen alone; nothing for others. Needs `loadCore`. */
export async function readMemory(files: readonly File[]): Promise<MemorySource | undefined> {
  const [only, ...more] = files;
  if (!only || more.length > 0 || !mayBeMemory(await headOf(only))) return undefined;
  const bytes = await bytesOf(only);
  return inCore(only, () => new MemorySource(bytes));
}

/**
 * Reads Kineto traces, each optionally with its Execution Trace. Several become ranks or runs of
 * one screen. Skips files that fail; rejects when none is left. `loadCore` must have finished.
 */
export async function readAll(files: readonly File[]): Promise<FilesRead> {
  const found = await recordings(files);
  const skipped = [...found.skipped];
  const [only, ...more] = found.whole;
  if (only && more.length === 0) return { source: await readOnly(only, skipped), names: [only.kineto.name], skipped };
  const traces: Snapshot[] = [];
  for (const recording of found.whole) {
    const { name } = recording.kineto;
    try {
      traces.push(...(await snapshotsOf(recording)));
    } catch (error) {
      skipped.push({ name, why: messageOf(error) });
      const { execution } = recording;
      if (execution) skipped.push({ name: execution.name, why: `its Kineto trace ${name} was skipped` });
    }
  }
  const [first] = skipped;
  if (traces.length === 0)
    throw new Error(first ? `${first.name}: ${first.why}` : "expected a Kineto trace, found no files");
  return { source: new WasmSource(ranked(traces)), names: traces.map(({ name }) => name), skipped };
}

/** Gives traces without a rank the next free one, so that several can be told apart. */
function ranked(traces: readonly Snapshot[]): readonly Snapshot[] {
  const taken = new Set(traces.map(({ rank }) => rank));
  let next = 0;
  return traces.map((trace) => {
    if (traces.length === 1 || trace.rank !== null) return trace;
    while (taken.has(next)) next++;
    return { ...trace, rank: next++ };
  });
}

interface FoundRecordings {
  readonly whole: readonly Recording[];
  /** Execution Traces without a Kineto trace, and duplicates in another format. */
  readonly skipped: readonly SkippedFile[];
}

/** Groups files into recordings by their first bytes and names. */
async function recordings(files: readonly File[]): Promise<FoundRecordings> {
  const heads = files.map(async (file) => ({ name: file.name, bytes: await headOf(file) }));
  const { recordings, skipped: passed } = recordingsOf(await Promise.all(heads));
  const whole: Recording[] = [];
  const skipped = passed.map(([place, why]) => ({ name: files[place]?.name ?? "", why }));
  for (const { rank = null, ...places } of recordings) {
    const chosen = [places.kineto, places.execution, places.memory];
    const [kineto, execution, memory] = chosen.map((at) => (at === undefined ? at : files[at]));
    if (kineto) whole.push({ kineto, execution, memory, rank });
    else if (execution) skipped.push({ name: execution.name, why: ALONE });
  }
  return { whole, skipped };
}

async function read({ kineto, execution, memory }: Recording): Promise<WasmSource> {
  const files = {
    kineto: await bytesOf(kineto),
    execution: execution && (await bytesOf(execution)),
    memory: memory && (await bytesOf(memory)),
  };
  return inCore(kineto, () => new WasmSource(files));
}

/** Reads the only recording; without its memory snapshot if that is of another run. */
async function readOnly(recording: Recording, skipped: SkippedFile[]): Promise<WasmSource> {
  const { memory } = recording;
  if (!memory) return read(recording);
  try {
    return await read(recording);
  } catch (error) {
    const source = await read({ ...recording, memory: undefined });
    skipped.push({ name: memory.name, why: messageOf(error) });
    return source;
  }
}

/** A snapshot of each rank in a recording: a merged file has several. */
async function snapshotsOf(recording: Recording): Promise<readonly Snapshot[]> {
  const { name } = recording.kineto;
  const alone = await read(recording);
  try {
    const { parts } = alone.query("overview", {});
    return parts.map(({ part, rank }) => ({ bytes: alone.snapshot(part), name, rank: rank ?? recording.rank }));
  } finally {
    alone.close();
  }
}
