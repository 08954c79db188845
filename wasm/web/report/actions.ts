/** A button of the page. */
export interface PageAction {
  readonly label: string;
  readonly title: string;
  /** Returns a short message where the effect is not visible. */
  readonly run: () => string | undefined | Promise<string>;
}

/** Adds a button per action to the table of contents, and a status text for their messages. */
export function addActions(nav: HTMLElement, actions: readonly PageAction[], fail: (error: unknown) => void): void {
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
    button.addEventListener("click", async () => {
      try {
        said.textContent = (await run()) ?? "";
      } catch (error) {
        fail(error);
      }
    });
    group.append(button);
  }
  nav.append(group);
}
