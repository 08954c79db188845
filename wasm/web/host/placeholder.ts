const WAITING = "No answer from Python yet. Check that the kernel is running, then run the cell again.";

/** Shows the static picture with a status text until the timeline is ready. */
export class Placeholder {
  readonly #around: HTMLElement;
  readonly #figure = document.createElement("div");
  readonly #words = document.createElement("p");

  /** `picture` is SVG from the core. */
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
    this.wait(false);
  }

  /** Says that Python does not answer, or takes that back. */
  wait(isSilent: boolean): void {
    this.#say("status", isSilent ? `${WAITING} This is a static picture.` : "Loading the timeline …");
  }

  /** Shows why there is no timeline. The picture stays. */
  fail(why: string): void {
    this.#around.replaceChildren(this.#figure);
    this.#say("alert", `Cannot show the timeline: ${why}. This is a static picture.`);
  }

  #say(role: "status" | "alert", text: string): void {
    this.#words.setAttribute("role", role);
    this.#words.textContent = text;
  }
}
