import type { Time } from "../base/time";
import type { Align, Answer, Ask, RequestType } from "./protocol";

/** Whatever answers questions about one trace. A view never learns what is behind it. */
export interface Source {
  /** Throws, or rejects, with the core's own text. */
  query<T extends RequestType>(type: T, ask: Ask<T>): Answer<T> | Promise<Answer<T>>;
  /** What it has, or a part of it, to be taken away; null while that is not in this page. */
  copy(wanted: Wanted): TakenAway | null;
  close(): void;
}

/** Which part of the traces, in nanoseconds of the screen, and whether without private texts. */
export interface Wanted {
  readonly align?: Align | undefined;
  readonly start?: Time;
  readonly end?: Time;
  readonly redacted?: boolean;
}

/** Traces in the page, as files. */
export interface TakenAway extends Source {
  /** One of them as other viewers read it, Chrome's JSON. */
  chrome(part: number): Uint8Array<ArrayBuffer>;
  /** One of them as a page carries it. */
  snapshot(part: number): Uint8Array;
  query<T extends RequestType>(type: T, ask: Ask<T>): Answer<T>;
}

/** Runs `use` at once when the answer is at hand: a picture must not wait a turn for what is known. */
export function settle<T>(answer: () => T | Promise<T>, use: (value: T) => void, fail: (error: unknown) => void): void {
  try {
    const value = answer();
    if (value instanceof Promise) value.then(use).catch(fail);
    else use(value);
  } catch (error) {
    fail(error);
  }
}

/** The words of whatever was thrown: by this page, or by the core, which throws `{message, …}`. */
export function messageOf(error: unknown): string {
  const { message } = (error ?? {}) as { readonly message?: unknown };
  return typeof message === "string" ? message : String(error);
}

/** In place of an answer that came to be wanted by nobody: whoever wants it still must ask again. */
export class Dropped extends Error {
  override readonly name = "Dropped";
}
