import { STYLES } from "./styles";

/**
 * Adds a shadow root to `around`, so that the styles of page and timeline stay apart. Returns its
 * root element.
 */
export function openShadow(around: HTMLElement): HTMLElement {
  const host = document.createElement("div");
  host.style.height = "100%";
  around.append(host);
  const shadow = host.attachShadow({ mode: "open" });
  // A Content-Security-Policy may forbid <style> elements, but not constructed style sheets.
  shadow.adoptedStyleSheets = STYLES.map(sheetOf);
  const frame = element("ks-frame");
  const root = element("ks-root");
  frame.append(root);
  shadow.append(frame);
  return root;
}

function element(name: string): HTMLElement {
  const made = document.createElement("div");
  made.className = name;
  return made;
}

function sheetOf(text: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return sheet;
}
