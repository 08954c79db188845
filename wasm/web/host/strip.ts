import type { Cell } from "../base/cell";
import { Cleanup } from "../base/cleanup";
import type { Theme } from "../base/palette";

/** `note` informs; `alert` needs the reader's attention. */
export type Weight = "note" | "alert";

/** Shows messages above the timeline, one line per `topic`. */
export class MessageStrip {
  readonly #root: HTMLElement;
  readonly #theme: Cell<Theme>;
  readonly #lines = new Map<string, HTMLElement>();
  readonly #cleanup = new Cleanup();

  /** `root` comes from `openShadow`. */
  constructor(root: HTMLElement, theme: Cell<Theme>) {
    this.#root = root;
    this.#theme = theme;
    this.#cleanup.add(theme.subscribe(() => this.#paint()));
  }

  /** Replaces the message of a topic; an empty text removes it. */
  say(topic: string, weight: Weight, text: string): void {
    this.#lines.get(topic)?.remove();
    this.#lines.delete(topic);
    if (text === "") return;
    const line = lineOf(weight, text, () => this.say(topic, weight, ""));
    this.#lines.set(topic, line);
    this.#root.before(line);
    this.#paint();
  }

  close(): void {
    this.#cleanup.run();
    for (const line of this.#lines.values()) line.remove();
  }

  #paint(): void {
    for (const line of this.#lines.values()) line.setAttribute("data-theme", this.#theme.value);
  }
}

function lineOf(weight: Weight, text: string, close: () => void): HTMLElement {
  const line = document.createElement("div");
  line.className = "ks-strip";
  line.setAttribute("role", weight === "alert" ? "alert" : "status");
  const words = document.createElement("span");
  words.textContent = text;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "✕";
  button.setAttribute("aria-label", "Close the message");
  button.addEventListener("click", close);
  line.append(words, button);
  return line;
}
