import type { Cleanup } from "../base/cleanup";
import { isOurs } from "../timeline/input/keymap";

// JupyterLab looks for it on the way from a key's target up, and takes no shortcut where it stands.
const SUPPRESS = "data-lm-suppress-shortcuts";

/**
 * Keeps JupyterLab from taking the keys that are pressed inside `host` as its commands (`d d` deletes a cell), but for those with
 * Ctrl or Cmd: saving the notebook must go on working. Its listener comes before any of ours but those of the window.
 */
export function suppressShortcuts(host: HTMLElement, cleanup: Cleanup): void {
  const listener = (event: KeyboardEvent) => {
    if (event.composedPath().includes(host)) host.toggleAttribute(SUPPRESS, isOurs(event));
  };
  host.setAttribute(SUPPRESS, "");
  window.addEventListener("keydown", listener, true);
  cleanup.add(() => window.removeEventListener("keydown", listener, true));
}
