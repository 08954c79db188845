import type { Time } from "../base/time";
import type { Align, Answer, Ask, RequestType } from "./protocol";

/** Answers requests about traces, in this page or elsewhere. */
export interface Source {
  /** Throws, or rejects, with the core's own message. */
  query<T extends RequestType>(type: T, ask: Ask<T>): Answer<T> | Promise<Answer<T>>;
  /**
   * Copies the traces, or a part of them, for export. Returns null while they are not in this page.
   */
  copy(wanted: CopyOptions): ExportSource | null;
  close(): void;
}

/** The range to copy, in nanoseconds of the screen, and whether to remove private texts. */
export interface CopyOptions {
  readonly align?: Align | undefined;
  readonly start?: Time;
  readonly end?: Time;
  readonly redacted?: boolean;
}

/** Traces in this page that can be exported. */
export interface ExportSource extends Source {
  /** One trace in Chrome's JSON format. */
  chrome(part: number): Uint8Array<ArrayBuffer>;
  /** One trace, packed. */
  snapshot(part: number): Uint8Array;
  /** The same as text, as pages carry it. */
  snapshotText(part: number): string;
  query<T extends RequestType>(type: T, ask: Ask<T>): Answer<T>;
}

/** Runs `use` at once when the answer is available, so that a picture does not wait for a turn. */
export function settle<T>(answer: () => T | Promise<T>, use: (value: T) => void, fail: (error: unknown) => void): void {
  try {
    const value = answer();
    if (value instanceof Promise) value.then(use).catch(fail);
    else use(value);
  } catch (error) {
    fail(error);
  }
}

/** The message of anything thrown. The core throws `{message, …}`. */
export function messageOf(error: unknown): string {
  const { message } = (error ?? {}) as { readonly message?: unknown };
  return typeof message === "string" ? message : String(error);
}

/** Replaces an obsolete answer. A caller that still needs it asks again. */
export class Dropped extends Error {
  override readonly name = "Dropped";
}
