import { Cell } from "../base/cell";

// What comes this soon needs no sign, which would only flicker.
const SOON_MS = 150;
// What takes longer is told to those who hear the screen.
const LONG_MS = 1000;

/** Whether the picture lacks what is on its way. */
export class Waiting {
  readonly isBusy = new Cell(false);
  readonly #again: () => void;
  readonly #say: (text: string) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isSaid = false;

  /** Calls `again` when the picture is to be drawn anew, because it has waited long enough for another sign. */
  constructor(again: () => void, say: (text: string) => void) {
    this.#again = again;
    this.#say = say;
  }

  /** To be told after each picture for how many milliseconds it has waited for what it lacks; of none where it lacks nothing. */
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
