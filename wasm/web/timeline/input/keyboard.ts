import { Cleanup } from "../../base/cleanup";
import type { Timeline } from "../timeline";
import { COMMANDS, type Surroundings } from "./commands";
import { HeldKeys } from "./held-keys";
import { bindingOf, isOurs, isPlain } from "./keymap";

/** Handles keys pressed inside `root` and hides them from the page. */
export class Keyboard {
  readonly held = new HeldKeys();
  readonly #timeline: Timeline;
  readonly #around: Surroundings;
  readonly #wake: () => void;
  readonly #cleanup = new Cleanup();

  constructor(root: HTMLElement, timeline: Timeline, around: Surroundings, wake: () => void) {
    this.#timeline = timeline;
    this.#around = around;
    this.#wake = wake;
    this.#listen(root, "keydown", (event) => this.#down(event));
    this.#listen(root, "keyup", (event) => this.#up(event));
    const release = () => this.held.releaseAll();
    root.addEventListener("focusout", release);
    this.#cleanup.add(() => root.removeEventListener("focusout", release));
  }

  close(): void {
    this.#cleanup.run();
  }

  #listen(root: HTMLElement, type: "keydown" | "keyup", listener: (event: KeyboardEvent) => void): void {
    root.addEventListener(type, listener);
    this.#cleanup.add(() => root.removeEventListener(type, listener));
  }

  #down(event: KeyboardEvent): void {
    if (isPlain(event)) event.stopPropagation();
    if (event.defaultPrevented || isTyping(event)) return;
    const binding = bindingOf(event);
    // A focused button handles Enter and the space bar.
    if (!binding || (event.key === "Enter" && isButton(event))) return;
    event.preventDefault();
    event.stopPropagation();
    const glides = binding.held === true && !this.#timeline.viewport.calm;
    if (glides && event.repeat) return;
    COMMANDS[binding.command](this.#timeline, this.#around);
    if (!glides) return;
    this.held.press(binding.command, performance.now());
    this.#wake();
  }

  #up(event: KeyboardEvent): void {
    if (isOurs(event)) event.stopPropagation();
    const binding = bindingOf({ ...modifiers, key: event.key });
    if (binding) this.held.release(binding.command);
  }
}

const modifiers = { shiftKey: false, ctrlKey: false, metaKey: false, altKey: false };

const targetOf = (event: Event): EventTarget | null => event.composedPath()[0] ?? null;

const isTyping = (event: Event): boolean => {
  const target = targetOf(event);
  return [HTMLInputElement, HTMLTextAreaElement, HTMLSelectElement].some((field) => target instanceof field);
};

const isButton = (event: Event): boolean => targetOf(event) instanceof HTMLButtonElement;
