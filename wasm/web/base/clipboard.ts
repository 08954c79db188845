/** Copies `text` to the clipboard. Frames and local files need the older API. */
export async function copyText(text: string, from: HTMLElement): Promise<void> {
  const old = () => copyOldWay(text, from);
  if (navigator.clipboard) await navigator.clipboard.writeText(text).catch(old);
  else old();
}

function copyOldWay(text: string, from: HTMLElement): void {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "ks-copying";
  from.parentElement?.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
  from.focus();
}
