/** Something that the reader can do with the page. */
export interface Action {
  readonly label: string;
  readonly title: string;
  /** Says what it did, if that is not to be seen. */
  readonly run: () => string | undefined;
}

/** Puts a button for each action at the end of the contents, and a place that says what they did. */
export function addActions(nav: HTMLElement, actions: readonly Action[], fail: (error: unknown) => void): void {
  const group = document.createElement("span");
  group.className = "ks-actions";
  const said = document.createElement("span");
  said.className = "ks-status";
  said.setAttribute("role", "status");
  group.append(said);
  for (const { label, title, run } of actions) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.title = title;
    button.addEventListener("click", () => {
      try {
        said.textContent = run() ?? "";
      } catch (error) {
        fail(error);
      }
    });
    group.append(button);
  }
  nav.append(group);
}
