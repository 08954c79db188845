import type { Note } from "../timeline/notes";

/**
 * Messages from Python: pieces of answers, with their bytes beside the message, and commands for
 * the timeline.
 */
export type Incoming =
  | { readonly type: "answers"; readonly parts: readonly AnswerChunk[] }
  | { readonly type: "failed"; readonly id: string; readonly message: string }
  | { readonly type: "say"; readonly message: string }
  | { readonly type: "notes"; readonly notes: readonly Note[] }
  | { readonly type: "goto"; readonly id: number }
  | { readonly type: "show"; readonly start: number; readonly end: number };

/** A piece of the answer to request `id`. */
export interface AnswerChunk {
  readonly id: string;
  readonly chunk: number;
  readonly num_chunks: number;
  /** Whether the whole answer is compressed with zlib. */
  readonly packed: boolean;
}

/** Messages to Python: requests of the protocol, or the name of a file that the timeline needs. */
export type Outgoing =
  | { readonly type: "query"; readonly asks: readonly { readonly id: string; readonly request: string }[] }
  | { readonly type: "get"; readonly id: string; readonly what: string };

export type Receive = (message: Incoming, buffers: readonly DataView[]) => void;

/** The messages of a widget's model. */
export interface Channel {
  send(message: Outgoing): void;
  /** Returns a function that ends listening. */
  listen(receive: Receive): () => void;
}
