import { type Bytes, unpack } from "../base/bytes";
import { Cell } from "../base/cell";
import { Cleanup } from "../base/cleanup";
import type { AnswerChunk, Channel, Incoming } from "./channel";
import { bytesOf, Chunks } from "./chunks";

interface PendingAnswer {
  readonly chunks: Chunks;
  readonly resolve: (bytes: Bytes) => void;
  readonly reject: (error: Error) => void;
}

/** Sends requests to Python and matches its answers. Several mailboxes may share a channel. */
export class Mailbox {
  /** Whether an answer has been missing for longer than the timeout. */
  readonly isSilent = new Cell(false);
  readonly #channel: Channel;
  readonly #patience: number;
  readonly #own = crypto.getRandomValues(new Uint32Array(2)).join("-");
  readonly #waiting = new Map<string, PendingAnswer>();
  readonly #cleanup = new Cleanup();
  #count = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `patience` is the timeout in milliseconds. */
  constructor(channel: Channel, patience: number) {
    this.#channel = channel;
    this.#patience = patience;
    this.#cleanup.add(channel.listen((message, buffers) => this.#receive(message, buffers)));
    this.#cleanup.add(() => clearTimeout(this.#timer));
  }

  /** Fetches a file that the timeline needs. */
  get(what: string): Promise<Bytes> {
    const [id, answer] = this.#expect();
    this.#channel.send({ type: "get", id, what });
    return answer;
  }

  /** Sends requests of the protocol in one message. */
  query(requests: readonly string[]): readonly Promise<Bytes>[] {
    const asked = requests.map((request) => ({ request, expected: this.#expect() }));
    this.#channel.send({ type: "query", asks: asked.map(({ request, expected: [id] }) => ({ id, request })) });
    return asked.map(({ expected: [, answer] }) => answer);
  }

  close(): void {
    this.#cleanup.run();
    for (const { reject } of this.#waiting.values()) reject(new Error("the widget was closed"));
    this.#waiting.clear();
  }

  #expect(): [string, Promise<Bytes>] {
    const id = `${this.#own}-${this.#count++}`;
    const answer = new Promise<Bytes>((resolve, reject) => {
      this.#waiting.set(id, { chunks: new Chunks(), resolve, reject });
    });
    if (this.#waiting.size === 1) this.#wait();
    return [id, answer];
  }

  /** Restarts the timeout. */
  #wait(): void {
    clearTimeout(this.#timer);
    if (this.#waiting.size > 0) this.#timer = setTimeout(() => this.isSilent.set(true), this.#patience);
  }

  #receive(message: Incoming, buffers: readonly DataView[]): void {
    if (message.type === "answers") for (const [at, part] of message.parts.entries()) this.#add(part, buffers[at]);
    if (message.type === "failed") {
      this.#waiting.get(message.id)?.reject(new Error(message.message));
      this.#waiting.delete(message.id);
    }
    this.isSilent.set(false);
    this.#wait();
  }

  #add(part: AnswerChunk, buffer: DataView | undefined): void {
    const waiting = this.#waiting.get(part.id);
    const whole = buffer && waiting?.chunks.add(part, bytesOf(buffer));
    if (!whole || !waiting) return;
    this.#waiting.delete(part.id);
    if (part.packed) unpack(whole, "deflate").then(waiting.resolve, waiting.reject);
    else waiting.resolve(whole);
  }
}
