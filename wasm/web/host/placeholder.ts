const WAITING =
  "Waiting for the trace: nothing came from Python yet. Is the kernel running? Run the cell again if not.";

/** The picture of the trace that needs nobody, with a word of what is going on, until the timeline is there. */
export class Placeholder {
  readonly #around: HTMLElement;
  readonly #figure = document.createElement("div");
  readonly #words = document.createElement("p");

  /** `picture` is SVG, as the core draws it. */
  constructor(around: HTMLElement, picture: string) {
    this.#around = around;
    this.#figure.innerHTML = picture;
    for (const [name, value] of [
      ["height", "100%"],
      ["overflow", "auto"],
      ["font", "12px/1.45 system-ui, sans-serif"],
      ["color", "var(--jp-content-font-color1, var(--vscode-editor-foreground, inherit))"],
    ] as const)
      this.#figure.style.setProperty(name, value);
    this.#words.className = "ks-waiting";
    this.#words.style.setProperty("margin", "0 0 8px");
    this.#figure.prepend(this.#words);
    around.replaceChildren(this.#figure);
    this.#say("status", "Loading the timeline …");
  }

  /** Says that Python is silent, or takes it back. */
  wait(isSilent: boolean): void {
    this.#say("status", isSilent ? `${WAITING} This is a picture of it.` : "Loading the timeline …");
  }

  /** Says why there is no timeline; the picture stays. */
  fail(why: string): void {
    this.#around.replaceChildren(this.#figure);
    this.#say("alert", `The timeline cannot be shown: ${why}. This is a picture of it.`);
  }

  #say(role: "status" | "alert", text: string): void {
    this.#words.setAttribute("role", role);
    this.#words.textContent = text;
  }
}
