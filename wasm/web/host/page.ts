import { fromBase64, gunzip } from "../base/bytes";
import { Cell } from "../base/cell";
import { Cleanup } from "../base/cleanup";
import { followHash } from "../report/hash";
import { makeSortable } from "../report/sortable";
import { compile, WasmSource } from "../source/session";
import { messageOf } from "../source/source";
import { mountTimeline } from "../timeline/mount";
import { openShadow } from "./shadow";
import { type WantedTheme, watchTheme } from "./theme";

function bytesIn(id: string): Uint8Array<ArrayBuffer> {
  const text = document.getElementById(id)?.textContent;
  if (!text) throw new Error(`expected data in #${id}, found none`);
  return fromBase64(text);
}

async function openTimeline(place: HTMLElement): Promise<void> {
  const module = await compile("page", () => gunzip(bytesIn("ks-wasm")));
  const source = new WasmSource(module, bytesIn("ks-snapshot"));
  const overview = source.query("overview", {});
  const picture = [...place.childNodes];
  const hash = followHash();
  place.classList.add("ks-live");
  const theme = watchTheme(new Cell<WantedTheme>("auto"), new Cleanup());
  const mounted = mountTimeline(openShadow(place), source, overview, {
    theme,
    title: document.title,
    onSelect: (id) => hash.tell({ event: id }),
    onRange: (range) => hash.tell({ range }),
  });
  // The style sheet has the least and the most: room for the details, and for the page around.
  place.style.height = `${mounted.naturalHeight}px`;
  // The picture drawn without scripts has done its work.
  for (const node of picture) node.remove();
  hash.listen(({ range, event }) => {
    if (range) {
      mounted.show(range.start, range.end);
      mounted.mark(range.start, range.end);
    }
    if (event !== null) mounted.go(event);
  });
}

/** The picture and the tables stay readable; what is missing is said above them. */
function showFailure(place: HTMLElement, error: unknown): void {
  const note = document.createElement("p");
  note.className = "ks-note ks-error-note";
  note.setAttribute("role", "alert");
  note.textContent = `The timeline cannot be shown here: ${messageOf(error)}`;
  place.prepend(note);
}

for (const table of document.querySelectorAll("main table")) makeSortable(table as HTMLTableElement);
const place = document.getElementById("ks-timeline");
if (place) openTimeline(place).catch((error: unknown) => showFailure(place, error));
