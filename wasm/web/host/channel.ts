import type { Note } from "../timeline/notes";

/** What Python sends: answers in pieces, each with its bytes beside the message, and what it wants of the timeline. */
export type Incoming =
  | { readonly type: "answers"; readonly parts: readonly Part[] }
  | { readonly type: "failed"; readonly id: string; readonly message: string }
  | { readonly type: "say"; readonly message: string }
  | { readonly type: "notes"; readonly notes: readonly Note[] }
  | { readonly type: "goto"; readonly id: number }
  | { readonly type: "show"; readonly start: number; readonly end: number };

/** A piece of the answer to what was asked under `id`. */
export interface Part {
  readonly id: string;
  readonly chunk: number;
  readonly num_chunks: number;
  /** Whether the whole is compressed as zlib does. */
  readonly packed: boolean;
}

/** What Python is asked: requests of the host seam, or for a file that the timeline is made of. */
export type Outgoing =
  | { readonly type: "query"; readonly asks: readonly { readonly id: string; readonly request: string }[] }
  | { readonly type: "get"; readonly id: string; readonly what: string };

export type Receive = (message: Incoming, buffers: readonly DataView[]) => void;

/** The part of a widget's model that carries messages. */
export interface Channel {
  send(message: Outgoing): void;
  /** Returns what ends it. */
  listen(receive: Receive): () => void;
}
