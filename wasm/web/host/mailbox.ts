import { type Bytes, unpack } from "../base/bytes";
import { Cell } from "../base/cell";
import { Cleanup } from "../base/cleanup";
import type { AnswerChunk, Channel, Incoming, Outgoing } from "./channel";
import { bytesOf, Chunks } from "./chunks";

interface PendingAnswer {
  /** The message that asked for it. */
  readonly request: Outgoing;
  readonly chunks: Chunks;
  readonly resolve: (bytes: Bytes) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Sends requests to Python and matches its answers. Several mailboxes may share a channel.
 *
 * Servers may drop messages, so requests without an answer are sent again. A busy kernel would
 * receive all copies at once, so the time between them doubles.
 */
export class Mailbox {
  /** Whether an answer has been missing for longer than the timeout. */
  readonly isSilent = new Cell(false);
  readonly #channel: Channel;
  readonly #patience: number;
  readonly #own = crypto.getRandomValues(new Uint32Array(2)).join("-");
  readonly #waiting = new Map<string, PendingAnswer>();
  readonly #cleanup = new Cleanup();
  #count = 0;
  #interval: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `patience` is the timeout in milliseconds. */
  constructor(channel: Channel, patience: number) {
    this.#channel = channel;
    this.#patience = patience;
    this.#interval = patience;
    this.#cleanup.add(channel.listen((message, buffers) => this.#receive(message, buffers)));
    this.#cleanup.add(() => clearTimeout(this.#timer));
  }

  /** Fetches a file that the timeline needs. */
  get(what: string): Promise<Bytes> {
    const request: Outgoing = { type: "get", id: this.#newId(), what };
    const answer = this.#expect(request.id, request);
    this.#send(request);
    return answer;
  }

  /** Sends requests of the protocol in one message. */
  query(requests: readonly string[]): readonly Promise<Bytes>[] {
    const asks = requests.map((request) => ({ id: this.#newId(), request }));
    const message: Outgoing = { type: "query", asks };
    const answers = asks.map(({ id }) => this.#expect(id, message));
    this.#send(message);
    return answers;
  }

  close(): void {
    this.#cleanup.run();
    for (const { reject } of this.#waiting.values()) reject(new Error("the widget was closed"));
    this.#waiting.clear();
  }

  #send(message: Outgoing): void {
    try {
      this.#channel.send(message);
    } catch {
      // JupyterLab throws while it replaces its connection to the kernel: as good as no answer.
    }
  }

  #sendAgain(): void {
    const requests = new Set([...this.#waiting.values()].map(({ request }) => request));
    for (const request of requests) this.#send(request);
    this.#interval *= 2;
    this.#wait();
  }

  #newId(): string {
    return `${this.#own}-${this.#count++}`;
  }

  #expect(id: string, request: Outgoing): Promise<Bytes> {
    const answer = new Promise<Bytes>((resolve, reject) => {
      this.#waiting.set(id, { request, chunks: new Chunks(), resolve, reject });
    });
    if (this.#waiting.size === 1) this.#wait();
    return answer;
  }

  /** Restarts the timeout. */
  #wait(): void {
    clearTimeout(this.#timer);
    if (this.#waiting.size === 0) return;
    this.#timer = setTimeout(() => {
      this.isSilent.set(true);
      this.#sendAgain();
    }, this.#interval);
  }

  #receive(message: Incoming, buffers: readonly DataView[]): void {
    if (message.type === "answers") for (const [at, part] of message.parts.entries()) this.#add(part, buffers[at]);
    if (message.type === "failed") {
      this.#waiting.get(message.id)?.reject(new Error(message.message));
      this.#waiting.delete(message.id);
    }
    this.isSilent.set(false);
    this.#interval = this.#patience;
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
