import { Cell } from "../base/cell";

// Shorter waits show no sign, which would flicker.
const SOON_MS = 150;
// Longer waits are announced to screen readers.
const LONG_MS = 1000;

/** Whether the picture is waiting for tiles. */
export class Waiting {
  readonly isBusy = new Cell(false);
  readonly #again: () => void;
  readonly #say: (text: string) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isSaid = false;

  /** Calls `again` when a wait is long enough for another sign. */
  constructor(again: () => void, say: (text: string) => void) {
    this.#again = again;
    this.#say = say;
  }

  /** Call it after each picture with the milliseconds of each pending wait. */
  tell(waited: readonly number[]): void {
    clearTimeout(this.#timer);
    const longest = Math.max(...waited);
    this.isBusy.set(longest >= SOON_MS);
    if (longest >= LONG_MS !== this.#isSaid && (!this.#isSaid || waited.length === 0)) {
      this.#isSaid = !this.#isSaid;
      this.#say(this.#isSaid ? "Loading events" : "Events loaded");
    }
    const next = [SOON_MS, LONG_MS].find((time) => time > longest);
    if (waited.length > 0 && next !== undefined) this.#timer = setTimeout(this.#again, next - longest);
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}
