import { Core, canCompile, type Fetch } from "./core";
import { GrowingSource } from "./growing";
import { RelaySource } from "./relay";
import { type Kernel, RemoteSource } from "./remote";
import { type Snapshot, WasmSource } from "./session";
import { messageOf, type Source } from "./source";

/** Who is to answer: the core in the page; the kernel; or the kernel until the trace is in the page. */
export type Where = "browser" | "kernel" | "both";

/** What a trace can be asked through. */
export interface Supply {
  readonly kernel: Kernel;
  /** Tells this core from others that the page has compiled. */
  readonly version: string;
  readonly core: Fetch;
  /** The traces, in the order that they have on the screen. */
  readonly snapshots: () => Promise<readonly Snapshot[]>;
  /** Told when another answers than was meant to, and why. */
  readonly tell: (note: string) => void;
}

/** Opens what answers about a trace. Rejects when nobody can. */
export async function openSource(where: Where, supply: Supply): Promise<Source> {
  if (where === "kernel") return new RemoteSource(supply.kernel);
  if (!(await canCompile())) {
    supply.tell("WebAssembly may not run in this page: the kernel answers, and must be running.");
    return new RemoteSource(supply.kernel);
  }
  if (where === "browser") return openHere(supply);
  const relay = new RelaySource(new RemoteSource(supply.kernel));
  openHere(supply).then(
    (here) => relay.change(here),
    (error: unknown) => supply.tell(`The trace stays in the kernel: ${messageOf(error)}`),
  );
  return relay;
}

async function openHere(supply: Supply): Promise<Source> {
  const [core, parts] = await Promise.all([Core.open(supply.version, supply.core), supply.snapshots()]);
  return new GrowingSource(new WasmSource(core, parts), core, supply);
}
