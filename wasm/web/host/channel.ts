import { bytesOf, Chunks } from "./chunks";

/** What Python sends. */
export type Incoming =
  | { readonly type: "snapshot"; readonly chunk: number; readonly num_chunks: number }
  | { readonly type: "error"; readonly message: string }
  | { readonly type: "goto"; readonly id: number }
  | { readonly type: "show"; readonly start: number; readonly end: number };

/** What Python is told. Ranges are in ns since the trace's start, null when there is none. */
export type Outgoing =
  | { readonly type: "snapshot" }
  | { readonly type: "select"; readonly id: number | null }
  | { readonly type: "range"; readonly start: number | null; readonly end: number | null };

export type Receive = (message: Incoming, buffers: readonly DataView[]) => void;

/** The part of a widget's model that carries messages. */
export interface Channel {
  send(message: Outgoing): void;
  /** Returns what ends it. */
  listen(receive: Receive): () => void;
}

/** Asks Python for the trace. `late` is called when nothing has come for `patience` milliseconds. */
export function receiveSnapshot(
  channel: Channel,
  patience: number,
  late: () => void,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks = new Chunks();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(late, patience);
    const end = channel.listen((message, buffers) => {
      if (message.type !== "snapshot" && message.type !== "error") return;
      clearTimeout(timer);
      if (message.type === "error") {
        end();
        reject(new Error(message.message));
        return;
      }
      const [buffer] = buffers;
      const whole = buffer ? chunks.add(message, bytesOf(buffer)) : null;
      if (!whole) return;
      end();
      resolve(whole);
    });
    channel.send({ type: "snapshot" });
  });
}
