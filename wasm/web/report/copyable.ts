import { copyText } from "../base/clipboard";

/** Adds a button to a cell that copies the full name. */
export function makeCopyable(cell: HTMLElement): void {
  const name = cell.querySelector<HTMLElement>("[title]")?.title;
  if (!name) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "ks-copy";
  button.title = "Copy the name";
  button.setAttribute("aria-label", `Copy ${name.slice(0, 80)}`);
  button.addEventListener("click", async () => {
    await copyText(name, button);
    button.classList.add("ks-done");
    setTimeout(() => button.classList.remove("ks-done"), 1200);
  });
  cell.prepend(button);
}
