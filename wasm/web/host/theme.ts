import { Cell } from "../base/cell";
import type { Cleanup } from "../base/cleanup";
import type { Theme } from "../base/palette";

export type WantedTheme = Theme | "auto";

interface ThemeMarks {
  readonly body: Pick<HTMLElement, "getAttribute" | "classList">;
  readonly html: Pick<HTMLElement, "getAttribute" | "classList">;
  readonly prefersDark: boolean;
}

/** The theme of the page around the timeline, else the reader's system preference. */
export function themeOf({ body, html, prefersDark }: ThemeMarks): Theme {
  const jupyter = body.getAttribute("data-jp-theme-light");
  if (jupyter !== null) return jupyter === "false" ? "dark" : "light";
  const code = vscodeTheme(body.classList);
  if (code) return code;
  for (const attribute of ["theme", "data-theme"]) {
    const named = html.getAttribute(attribute) ?? body.getAttribute(attribute);
    if (named === "dark" || named === "light") return named;
  }
  for (const named of ["dark", "light"] as const) {
    if (html.classList.contains(named) || body.classList.contains(named)) return named;
  }
  return prefersDark ? "dark" : "light";
}

function vscodeTheme(classes: Pick<DOMTokenList, "contains">): Theme | null {
  if (classes.contains("vscode-light") || classes.contains("vscode-high-contrast-light")) return "light";
  return classes.contains("vscode-dark") || classes.contains("vscode-high-contrast") ? "dark" : null;
}

/** Follows `wanted`, or the page's theme where that is `auto`. */
export function watchTheme(wanted: Cell<WantedTheme>, cleanup: Cleanup): Cell<Theme> {
  const query = matchMedia("(prefers-color-scheme: dark)");
  const page = { body: document.body, html: document.documentElement };
  const read = (): Theme => (wanted.value === "auto" ? themeOf({ ...page, prefersDark: query.matches }) : wanted.value);
  const theme = new Cell(read());
  const update = () => theme.set(read());
  const observer = new MutationObserver(update);
  for (const element of [page.body, page.html]) observer.observe(element, { attributes: true });
  query.addEventListener("change", update);
  cleanup.add(() => observer.disconnect());
  cleanup.add(() => query.removeEventListener("change", update));
  cleanup.add(wanted.subscribe(update));
  return theme;
}
