/** Shows words in place of the timeline. `role` is `status` while waiting and `alert` when something failed. */
export function showNotice(root: HTMLElement, role: "status" | "alert", title: string, more = ""): void {
  const message = document.createElement("div");
  message.className = "ks-message";
  message.setAttribute("role", role);
  message.append(line("strong", title), ...(more ? [line("p", more)] : []));
  root.replaceChildren(message);
}

function line(tag: "strong" | "p", text: string): HTMLElement {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}
