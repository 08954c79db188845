import type { Answer, Ask, RequestType } from "./protocol";
import type { CopyOptions, ExportSource, Source } from "./source";

// A hidden tab draws nothing, so it asks for no tiles.
const LATEST_START_MS = 2000;

/** Asks the kernel until a source in this page is loaded. Both give the same answers. */
export class LazySource implements Source {
  #source: Source;
  #load: (() => void) | undefined;
  #isOpen = true;
  readonly #timer: ReturnType<typeof setTimeout>;

  /**
   * Calls `load` once the kernel has answered for the first picture, so that the download does not
   * delay the picture. Calls `fail` when loading fails; the kernel then goes on answering.
   */
  constructor(kernel: Source, load: () => Promise<Source>, fail: (error: unknown) => void) {
    this.#source = kernel;
    this.#load = () => void load().then((source) => this.#change(source), fail);
    this.#timer = setTimeout(() => this.#start(), LATEST_START_MS);
  }

  query<T extends RequestType>(type: T, ask: Ask<T>): Answer<T> | Promise<Answer<T>> {
    const answer = this.#source.query(type, ask);
    const start = () => this.#start();
    if (type === "tiles" && this.#load && answer instanceof Promise) answer.then(start, start);
    return answer;
  }

  copy(wanted: CopyOptions): ExportSource | null {
    return this.#source.copy(wanted);
  }

  close(): void {
    this.#isOpen = false;
    this.#load = undefined;
    clearTimeout(this.#timer);
    this.#source.close();
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#load?.();
    this.#load = undefined;
  }

  // The kernel's source stays open: it may owe answers.
  #change(source: Source): void {
    if (this.#isOpen) this.#source = source;
    else source.close();
  }
}
