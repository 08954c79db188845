import { recordingsOf as placesOf, type Recordings, Session } from "../../dist/kinetoscope_wasm.js";
import { decodeAnswer } from "./answer";
import type { Core } from "./core";
import type { Answer, Ask, RequestType } from "./protocol";
import type { TakenAway, Wanted } from "./source";

/** A trace for a screen. */
export interface Snapshot {
  readonly bytes: Uint8Array;
  /** What it is called, if it is called anything. */
  readonly name: string;
  /** For a trace that does not tell it itself. */
  readonly rank: number | null;
}

/** A trace in files as they are, plain or gzip. */
export interface TraceFiles {
  readonly kineto: Uint8Array;
  readonly execution: Uint8Array | undefined;
}

/** The first bytes of a file. */
export interface Head {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Which files belong together. The core must be there, with its reader. */
export function recordingsOf(heads: readonly Head[]): Recordings {
  return placesOf(
    heads.map(({ name }) => name),
    heads.map(({ bytes }) => bytes),
  );
}

const alone = (bytes: Uint8Array): readonly Snapshot[] => [{ bytes, name: "", rank: null }];

/** The core in this page, holding one trace or several. */
export class WasmSource implements TakenAway {
  readonly #core: Core;
  readonly #session: Session;
  readonly #encoder = new TextEncoder();
  #open = true;

  /** `core` must have its reader where `traces` are files. */
  constructor(core: Core, traces: Uint8Array | readonly Snapshot[] | TraceFiles | Session) {
    this.#core = core;
    if (traces instanceof Session) {
      this.#session = traces;
      return;
    }
    if ("kineto" in traces) {
      this.#session = Session.read(traces.kineto, traces.execution);
      return;
    }
    this.#session = new Session();
    const parts = traces instanceof Uint8Array ? alone(traces) : traces;
    for (const { bytes, name, rank } of parts) this.#session.add(bytes, name, rank ?? undefined);
  }

  copy(wanted: Wanted): WasmSource {
    const request = this.#encoder.encode(JSON.stringify(wanted));
    return new WasmSource(this.#core, this.#session.copy(request));
  }

  chrome(part: number): Uint8Array<ArrayBuffer> {
    return this.#session.chrome(part) as Uint8Array<ArrayBuffer>;
  }

  snapshot(part: number): Uint8Array {
    return this.#session.snapshot(part);
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
