import { decodeAnswer } from "./answer";
import type { Answer, Ask, RequestType } from "./protocol";
import { Dropped, type Source } from "./source";

/** Answers requests in Python. `query` takes requests as JSON and returns a response for each. */
export interface Kernel {
  query(requests: readonly string[]): readonly Promise<Uint8Array>[];
}

// Requests in flight: enough to keep the kernel busy, few enough that new requests wait little.
const FLYING = 24;
// Longest queue of tiles. Older requests are for places that the reader has left.
const QUEUE = 300;

interface PendingRequest {
  readonly type: RequestType;
  readonly request: string;
  readonly resolve: (bytes: Uint8Array) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Requests answers from the kernel. Requests of one turn share a message, latest first. Stale tiles
 * are dropped.
 */
export class RemoteSource implements Source {
  readonly #kernel: Kernel;
  readonly #pending = new Map<string, Promise<Uint8Array>>();
  #queue: PendingRequest[] = [];
  #numFlying = 0;
  #isScheduled = false;
  #open = true;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  query<T extends RequestType>(type: T, ask: Ask<T>): Promise<Answer<T>> {
    if (!this.#open) return Promise.reject(new Error("expected an open session, found a closed one"));
    const request = JSON.stringify({ type, ...ask });
    const bytes = this.#pending.get(request) ?? this.#ask(type, request);
    return bytes.then((answer) => decodeAnswer(type, answer));
  }

  copy(): null {
    return null;
  }

  close(): void {
    this.#open = false;
    this.#queue = [];
    this.#pending.clear();
  }

  #ask(type: RequestType, request: string): Promise<Uint8Array> {
    const answer = new Promise<Uint8Array>((resolve, reject) => this.#queue.push({ type, request, resolve, reject }));
    this.#pending.set(request, answer);
    const forget = () => this.#pending.delete(request);
    answer.then(forget, forget);
    this.#dropStale();
    this.#schedule();
    return answer;
  }

  #dropStale(): void {
    if (this.#queue.length <= QUEUE) return;
    const stalest = this.#queue.findIndex(({ type }) => type === "tiles");
    const [dropped] = stalest < 0 ? [] : this.#queue.splice(stalest, 1);
    dropped?.reject(new Dropped());
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#send();
    });
  }

  #send(): void {
    const room = FLYING - this.#numFlying;
    if (!this.#open || room <= 0 || this.#queue.length === 0) return;
    // Requests of the reader are few and go before tiles.
    const inOrder = [...this.#queue.filter(isTiles), ...this.#queue.filter((waiting) => !isTiles(waiting))];
    const batch = inOrder.splice(-room).reverse();
    this.#queue = this.#queue.filter((waiting) => !batch.includes(waiting));
    this.#numFlying += batch.length;
    const answers = this.#kernel.query(batch.map(({ request }) => request));
    for (const [at, { resolve, reject }] of batch.entries()) {
      answers[at]?.then(resolve, reject).finally(() => {
        this.#numFlying--;
        this.#schedule();
      });
    }
  }
}

const isTiles = ({ type }: PendingRequest): boolean => type === "tiles";
