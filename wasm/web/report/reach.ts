/** Adds a link for the keyboard: the first of the page, visible while it has the focus. */
export function addSkipLink(main: HTMLElement, go: () => void): void {
  const link = document.createElement("a");
  link.className = "ks-skip";
  link.href = "#ks-timeline";
  link.textContent = "Go to the timeline";
  link.addEventListener("click", (event) => {
    event.preventDefault();
    go();
  });
  main.prepend(link);
}

/** Lets `/` search from anywhere on the page, except from a field. */
export function searchFromAnywhere(search: () => void): void {
  addEventListener("keydown", (event) => {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (event.key !== "/" || !isPlain || event.defaultPrevented || event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    search();
  });
}
