/** The page without a trace: takes files from the reader, by choice or by drop. */
export function awaitFiles(main: HTMLElement, read: (files: readonly File[]) => Promise<void>): void {
  const [place, input, said] = build(main);
  const take = (files: readonly File[]) => {
    if (files.length === 0) return;
    place.classList.remove("ks-over", "ks-failed");
    said.textContent = `Reading ${files.map(({ name }) => name).join(" and ")} …`;
    // Reading keeps the page busy: the words must be there before.
    setTimeout(() => {
      read(files).catch((error: unknown) => {
        place.classList.add("ks-failed");
        said.textContent =
          error instanceof Error ? error.message : String((error as { message?: unknown }).message ?? error);
      });
    }, 30);
  };
  input.addEventListener("change", () => take([...(input.files ?? [])]));
  addEventListener("dragover", (event) => {
    event.preventDefault();
    place.classList.add("ks-over");
  });
  addEventListener("dragleave", () => place.classList.remove("ks-over"));
  addEventListener("drop", (event) => {
    event.preventDefault();
    take([...(event.dataTransfer?.files ?? [])]);
  });
}

const WORDS = [
  "Drop a Kineto trace here, with its Execution Trace if there is one.",
  "The files are read in this page. Nothing leaves it: its policy forbids every connection.",
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
  input.accept = ".json,.gz";
  const label = element("label", "Choose files");
  label.append(input);
  const said = element("p", "");
  said.className = "ks-status";
  said.setAttribute("role", "status");
  place.append(element("h1", "Kinetoscope"), element("p", WORDS[0]), label, element("p", WORDS[1]), said);
  main.replaceChildren(place);
  return [place, input, said];
}
