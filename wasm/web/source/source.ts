import type { Answer, Ask, RequestType } from "./protocol";

/** Whatever answers questions about one trace. A view never learns what is behind it. */
export interface Source {
  /** Throws, or rejects, with the core's own text. */
  query<T extends RequestType>(type: T, ask: Ask<T>): Answer<T> | Promise<Answer<T>>;
  close(): void;
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
