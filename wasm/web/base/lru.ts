/** Keeps the most recently used values up to a total weight of `limit`. */
export class Lru<K, V> {
  readonly #values = new Map<K, V>();
  readonly #limit: number;
  readonly #weigh: (value: V) => number;
  #weight = 0;

  constructor(limit: number, weigh: (value: V) => number) {
    this.#limit = limit;
    this.#weigh = weigh;
  }

  get(key: K): V | undefined {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, value);
    return value;
  }

  set(key: K, value: V): void {
    this.#drop(key);
    this.#values.set(key, value);
    this.#weight += this.#weigh(value);
    for (const oldest of this.#values.keys()) {
      if (this.#weight <= this.#limit || oldest === key) return;
      this.#drop(oldest);
    }
  }

  clear(): void {
    this.#values.clear();
    this.#weight = 0;
  }

  #drop(key: K): void {
    const value = this.#values.get(key);
    if (value !== undefined) this.#weight -= this.#weigh(value);
    this.#values.delete(key);
  }
}
