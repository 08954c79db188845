import { leadsSomewhere, parseHash, type Target } from "./hash";

/** Follows links into the timeline, also a link that is the address already, and scrolls there. */
export function followLinks(root: HTMLElement, place: HTMLElement, go: (target: Target) => void): void {
  root.addEventListener("click", (event) => {
    const link = event.target instanceof Element && event.target.closest("a[href^='#']");
    if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const target = parseHash(link.getAttribute("href") ?? "");
    if (!leadsSomewhere(target)) return;
    event.preventDefault();
    go(target);
    place.scrollIntoView({ block: "nearest" });
  });
}
