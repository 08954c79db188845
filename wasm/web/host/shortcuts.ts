import type { Cleanup } from "../base/cleanup";
import { isOurs } from "../timeline/input/keymap";

// JupyterLab ignores shortcuts on elements inside one with this attribute.
const SUPPRESS = "data-lm-suppress-shortcuts";

/**
 * Keeps JupyterLab from treating keys pressed inside `host` as commands (`d d` deletes a cell).
 * Keys with Ctrl or Cmd still reach it, as for saving the notebook. The listener must run before
 * other listeners of the timeline.
 */
export function suppressShortcuts(host: HTMLElement, cleanup: Cleanup): void {
  const listener = (event: KeyboardEvent) => {
    if (event.composedPath().includes(host)) host.toggleAttribute(SUPPRESS, isOurs(event));
  };
  host.setAttribute(SUPPRESS, "");
  window.addEventListener("keydown", listener, true);
  cleanup.add(() => window.removeEventListener("keydown", listener, true));
}
