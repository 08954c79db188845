import { concat } from "../base/bytes";

export interface ChunkMessage {
  readonly chunk: number;
  readonly num_chunks: number;
}

/** Joins the pieces of a message, which may arrive in any order. */
export class Chunks {
  readonly #parts = new Map<number, Uint8Array>();

  /** Returns the whole after its last piece, else null. */
  add({ chunk, num_chunks: count }: ChunkMessage, bytes: Uint8Array): Uint8Array<ArrayBuffer> | null {
    this.#parts.set(chunk, bytes);
    if (this.#parts.size < count) return null;
    const ordered = [...this.#parts].sort(([a], [b]) => a - b).map(([, part]) => part);
    this.#parts.clear();
    return concat(ordered);
  }
}

/** The bytes of a message's buffer. Some hosts pass a view, others a whole buffer. */
export function bytesOf(buffer: ArrayBuffer | ArrayBufferView): Uint8Array {
  if (buffer instanceof ArrayBuffer) return new Uint8Array(buffer);
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
}
