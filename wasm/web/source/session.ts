import { mayBeMemory, recordingsOf as placesOf, type Recordings, Session } from "../../dist/kinetoscope_wasm.js";
import { decodeAnswer } from "./answer";
import type { Answer, Ask, RequestType } from "./protocol";
import type { CopyOptions, ExportSource } from "./source";

/** A trace in the compact form for viewers. */
export interface Snapshot {
  readonly bytes: Uint8Array;
  /** The reader's name for the trace; empty where there is none. */
  readonly name: string;
  /** Used where the trace does not state its rank. */
  readonly rank: number | null;
}

/** The bytes of trace files, plain or compressed. */
export interface TraceFiles {
  readonly kineto: Uint8Array;
  readonly execution: Uint8Array | undefined;
  /** A memory snapshot of the same run. */
  readonly memory: Uint8Array | undefined;
}

/** The first bytes of a file. */
export interface Head {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Groups files into recordings. `loadCore` must have finished. */
export function recordingsOf(heads: readonly Head[]): Recordings {
  return placesOf(
    heads.map(({ name }) => name),
    heads.map(({ bytes }) => bytes),
  );
}

// Only this file knows the glue.
export { mayBeMemory };

const alone = (bytes: Uint8Array): readonly Snapshot[] => [{ bytes, name: "", rank: null }];

/** One or more traces, answered by the core in this page. `loadCore` must have finished. */
export class WasmSource implements ExportSource {
  readonly #session: Session;
  readonly #encoder = new TextEncoder();
  #open = true;

  constructor(traces: Uint8Array | readonly Snapshot[] | TraceFiles | Session) {
    if (traces instanceof Session) {
      this.#session = traces;
      return;
    }
    if ("kineto" in traces) {
      this.#session = Session.read(traces.kineto, traces.execution, traces.memory);
      return;
    }
    this.#session = new Session();
    const parts = traces instanceof Uint8Array ? alone(traces) : traces;
    for (const { bytes, name, rank } of parts) this.#session.add(bytes, name, rank ?? undefined);
  }

  copy(wanted: CopyOptions): WasmSource {
    const request = this.#encoder.encode(JSON.stringify(wanted));
    return new WasmSource(this.#session.copy(request));
  }

  chrome(part: number): Uint8Array<ArrayBuffer> {
    return this.#session.chrome(part) as Uint8Array<ArrayBuffer>;
  }

  snapshot(part: number): Uint8Array {
    return this.#session.snapshot(part);
  }

  snapshotText(part: number): string {
    return this.#session.snapshot_text(part);
  }

  query<T extends RequestType>(type: T, ask: Ask<T>): Answer<T> {
    if (!this.#open) throw new Error("expected an open session, found a closed one");
    const request = this.#encoder.encode(JSON.stringify({ type, ...ask }));
    return decodeAnswer(type, this.#session.query(request));
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#session.free();
  }
}
