import type { Answer, Ask, RequestType } from "./protocol";
import type { Source, TakenAway, Wanted } from "./source";

interface Entry {
  readonly source: Promise<Source>;
  numUsers: number;
}

// On the page, for one trace may be shown by several views.
const entries = new Map<string, Entry>();

/** The source of that key: opened for the first who asks, closed when the last has closed it. */
export async function share(key: string, open: () => Promise<Source>): Promise<Source> {
  const entry = entries.get(key) ?? { source: open(), numUsers: 0 };
  entries.set(key, entry);
  entry.numUsers++;
  try {
    return new Use(await entry.source, () => leave(key, entry));
  } catch (error) {
    leave(key, entry);
    throw error;
  }
}

function leave(key: string, entry: Entry): void {
  entry.numUsers--;
  if (entry.numUsers > 0) return;
  if (entries.get(key) === entry) entries.delete(key);
  entry.source.then((source) => source.close()).catch(() => {});
}

/** One user's part in a source. */
class Use implements Source {
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

  copy(wanted: Wanted): TakenAway | null {
    return this.#source.copy(wanted);
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#leave();
  }
}
