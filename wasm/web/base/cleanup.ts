/** Collects undo steps and runs them once, last first. */
export class Cleanup {
  #steps: (() => void)[] = [];

  add(step: () => void): void {
    this.#steps.push(step);
  }

  run(): void {
    const steps = this.#steps.reverse();
    this.#steps = [];
    for (const step of steps) step();
  }
}
