import { Cell } from "../base/cell";
import { formatBytes, formatNumber, formatShare } from "../base/format";
import { firstReached } from "../base/partition";
import type { Span, Time } from "../base/time";
import type { Counter, CounterSteps } from "../source/protocol";
import { type Source, settle } from "../source/source";
import { quantaOf } from "./quanta";

interface Known {
  readonly key: string;
  readonly steps: CounterSteps;
}

/** A counter at a time. */
export interface CounterPoint {
  readonly counter: Counter;
  readonly time: Time;
  /** Null before its first value. */
  readonly value: number | null;
}

/** Counters over time, while they are shown. */
export class Counters {
  /** The counters on the screen: all or none. */
  readonly shown = new Cell<readonly Counter[]>([]);
  /** The counter and the time that the reader clicked. */
  readonly clicked = new Cell<CounterPoint | null>(null);
  readonly #source: Source;
  readonly #arrived: () => void;
  readonly #failed: (error: unknown) => void;
  readonly #known = new Map<number, Known>();
  readonly #asked = new Map<number, string>();
  #all: readonly Counter[] | null = null;

  constructor(source: Source, arrived: () => void, failed: (error: unknown) => void) {
    this.#source = source;
    this.#arrived = arrived;
    this.#failed = failed;
  }

  toggle(): void {
    if (this.shown.value.length > 0) {
      this.shown.set([]);
      this.clicked.set(null);
    } else if (this.#all) this.shown.set(this.#all);
    else this.#list();
  }

  /** Discards the drawn steps. */
  renew(): void {
    this.#known.clear();
    this.#asked.clear();
  }

  /** Chooses a counter at a time, from the steps that are drawn. */
  click(counter: Counter, time: Time, window: Span, width: number): void {
    const steps = this.stepsIn(counter.counter, window, width);
    const at = steps && time <= steps.until ? stepAt(steps, time) : -1;
    this.clicked.set({ counter, time, value: steps?.last[at] ?? null });
  }

  #list(): void {
    settle(
      () => this.#source.query("counters", {}),
      ({ counters }) => {
        // A counter that is always zero gets no row.
        this.#all = counters.filter(({ least, greatest }) => least !== 0 || greatest !== 0);
        this.shown.set(this.#all);
      },
      this.#failed,
    );
  }

  /** The steps to draw: exact ones, or the previous ones while those are loading. */
  stepsIn(counter: number, window: Span, width: number): CounterSteps | null {
    const { key, span, pixels } = quantaOf(window, width);
    if (this.#known.get(counter)?.key !== key && this.#asked.get(counter) !== key) {
      this.#asked.set(counter, key);
      let waiting = false;
      settle(
        () => this.#source.query("counter", { counter, start: span.start, end: span.end, pixels }),
        (steps) => {
          if (this.#asked.get(counter) === key) this.#known.set(counter, { key, steps });
          if (waiting) this.#arrived();
        },
        this.#failed,
      );
      waiting = true;
    }
    return this.#known.get(counter)?.steps ?? null;
  }
}

/** Index of the step at `time`; −1 before the first. */
export function stepAt({ start }: CounterSteps, time: number): number {
  return firstReached(0, start.length, (at) => (start[at] as number) > time) - 1;
}

export function readValue(value: number, unit: Counter["unit"]): string {
  if (unit === "bytes") return formatBytes(value);
  if (unit === "share") return formatShare(value, 1);
  return formatNumber(value);
}
