import type { Answer, Ask, RequestType } from "./protocol";
import type { CopyOptions, ExportSource, Source } from "./source";

interface SharedSource {
  readonly source: Promise<Source>;
  numUsers: number;
}

// Shared by the page, because several views may show one trace.
const entries = new Map<string, SharedSource>();

/** Returns the source of `key`. The first user opens it; the last one to close it closes it. */
export async function share(key: string, open: () => Promise<Source>): Promise<Source> {
  const entry = entries.get(key) ?? { source: open(), numUsers: 0 };
  entries.set(key, entry);
  entry.numUsers++;
  try {
    return new SharedHandle(await entry.source, () => leave(key, entry));
  } catch (error) {
    // The next user tries again.
    if (entries.get(key) === entry) entries.delete(key);
    leave(key, entry);
    throw error;
  }
}

function leave(key: string, entry: SharedSource): void {
  entry.numUsers--;
  if (entry.numUsers > 0) return;
  if (entries.get(key) === entry) entries.delete(key);
  entry.source.then((source) => source.close()).catch(() => {});
}

/** One user's handle of a shared source. */
class SharedHandle implements Source {
  readonly #source: Source;
  readonly #leave: () => void;
  #open = true;

  constructor(source: Source, leaving: () => void) {
    this.#source = source;
    this.#leave = leaving;
  }

  query<T extends RequestType>(type: T, ask: Ask<T>): Answer<T> | Promise<Answer<T>> {
    if (!this.#open) throw new Error("expected an open session, found a closed one");
    return this.#source.query(type, ask);
  }

  copy(wanted: CopyOptions): ExportSource | null {
    return this.#source.copy(wanted);
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#leave();
  }
}
