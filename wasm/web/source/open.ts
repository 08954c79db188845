import { canCompile, loadCore } from "./core";
import { LazySource } from "./lazy-source";
import { type Kernel, RemoteSource } from "./remote";
import { type Snapshot, WasmSource } from "./session";
import { share } from "./shared";
import { messageOf, type Source } from "./source";

/** Who answers requests: the kernel, or this page once the core and the traces are in it. */
export type Where = "browser" | "kernel";

/** Everything that a source can be made from. */
export interface Supply {
  readonly kernel: Kernel;
  /** Identifies the compiled core: the page keeps one per version. */
  readonly version: string;
  readonly core: () => Promise<Uint8Array<ArrayBuffer>>;
  /** Identifies the traces: the page keeps them once for all timelines. */
  readonly key: string;
  /** The traces in the order of the screen. */
  readonly snapshots: () => Promise<readonly Snapshot[]>;
  /** Receives a message for the reader when the kernel has to go on answering. */
  readonly tell: (note: string) => void;
}

/** Opens the source of a timeline. Rejects when neither the page nor the kernel can answer. */
export async function openSource(where: Where, supply: Supply): Promise<Source> {
  const kernel = new RemoteSource(supply.kernel);
  if (where === "kernel") return kernel;
  if (!(await canCompile())) {
    supply.tell("This page does not allow WebAssembly. The kernel answers instead: keep it running.");
    return kernel;
  }
  const fail = (error: unknown) =>
    supply.tell(`The trace could not be loaded into this page: ${messageOf(error)}. The kernel answers instead.`);
  return new LazySource(kernel, () => shareHere(supply), fail);
}

/** Tries again if another timeline failed to load the traces: it may have closed meanwhile. */
function shareHere(supply: Supply): Promise<Source> {
  let isOwn = false;
  const open = () => {
    isOwn = true;
    return openHere(supply);
  };
  const shared = () => share(`traces ${supply.key}`, open);
  return shared().catch((error: unknown) => {
    if (isOwn) throw error;
    return shared();
  });
}

async function openHere({ version, core, snapshots }: Supply): Promise<Source> {
  const [, traces] = await Promise.all([loadCore(version, core), snapshots()]);
  return new WasmSource(traces);
}
