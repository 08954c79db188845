import { STYLES } from "./styles";

/** An element inside `around` where only the timeline's own style applies, and from where none leaks. */
export function openShadow(around: HTMLElement): HTMLElement {
  const host = document.createElement("div");
  host.style.height = "100%";
  around.append(host);
  const shadow = host.attachShadow({ mode: "open" });
  // Constructed sheets need no leave of a Content-Security-Policy, <style> elements do.
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
