import { messageOf } from "../source/source";
import { hearEmbedder } from "./embedded";

// Reading blocks the page, so its message must be painted before.
const PAUSE_MS = 30;

/** Rejects files that are dropped on a page with traces: they would replace the page. */
export function keepDropsAway(said: (text: string) => void): void {
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    said("This page already has traces. Open the empty page again to read others.");
  });
}

/** Shows the empty page: takes files by choice or by drop until `read` succeeds. */
export function awaitFiles(main: HTMLElement, read: (files: readonly File[]) => Promise<void>): void {
  const [place, input, said] = build(main);
  const done = new AbortController();
  const { signal } = done;
  const attempt = async (files: readonly File[]) => {
    if (signal.aborted) return;
    place.classList.remove("ks-over", "ks-failed");
    said.textContent = `Reading ${namesOf(files)} …`;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    try {
      await read(files);
      done.abort();
    } catch (error) {
      place.classList.add("ks-failed");
      said.textContent = messageOf(error);
    }
  };
  let last = Promise.resolve();
  const take = (files: readonly File[]) => {
    if (files.length > 0) last = last.then(() => attempt(files));
  };
  input.addEventListener("change", () => take([...(input.files ?? [])]));
  listenForDrops(place, take, signal);
  hearEmbedder((message) => {
    if (message.type === "open") return take(message.files);
    place.classList.toggle("ks-failed", message.type === "fail");
    said.textContent = message.text;
  }, signal);
}

const namesOf = (files: readonly File[]): string =>
  files.length > 2 ? `${files.length} files` : files.map(({ name }) => name).join(" and ");

function listenForDrops(place: HTMLElement, take: (files: readonly File[]) => void, signal: AbortSignal): void {
  const over = (event: DragEvent) => {
    event.preventDefault();
    place.classList.add("ks-over");
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    take([...(event.dataTransfer?.files ?? [])]);
  };
  addEventListener("dragover", over, { signal });
  addEventListener("dragleave", () => place.classList.remove("ks-over"), { signal });
  addEventListener("drop", drop, { signal });
}

const WORDS = [
  "Drop a Kineto trace here, optionally with its Execution Trace and a memory snapshot of the same run, or the traces of several ranks. A memory snapshot alone, an SQLite export of Nsight Systems and a database of ROCm work, too. Files may be compressed with gzip or xz.",
  "This page reads the files itself. Its policy forbids every connection, so nothing leaves your machine.",
] as const;

function build(main: HTMLElement): [HTMLElement, HTMLInputElement, HTMLElement] {
  const element = <T extends keyof HTMLElementTagNameMap>(name: T, text: string): HTMLElementTagNameMap[T] => {
    const made = document.createElement(name);
    made.textContent = text;
    return made;
  };
  const place = element("section", "");
  place.className = "ks-drop";
  const input = element("input", "");
  input.type = "file";
  input.multiple = true;
  input.accept = ".json,.gz,.xz,.kscope,.pickle,.pkl,.sqlite,.rpd,.db,.pftrace,.perfetto-trace";
  const label = element("label", "Choose files");
  label.append(input);
  const said = element("p", "");
  said.className = "ks-status";
  said.setAttribute("role", "status");
  place.append(element("h1", "Kinetoscope"), element("p", WORDS[0]), label, element("p", WORDS[1]), said);
  main.replaceChildren(place);
  return [place, input, said];
}
