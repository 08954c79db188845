/** The reader's state in a saved page. */
export interface View {
  readonly hash: string;
  /** Notes in the timeline's own form. */
  readonly notes: readonly unknown[];
}

/** A trace in a page. */
export interface PageTrace {
  /** The core's `base85`. */
  readonly text: string;
  readonly rank: number | null;
  /** The reader's name for the trace; empty where there is none. */
  readonly name?: string;
}

const VIEW = "ks-view";
const CORE = "ks-wasm";
const SCRIPT = "ks-script";

/** The page before scripts changed it, for saving a copy. */
export class PageFile {
  readonly body: string;
  readonly #head: string;
  /** Unpacks the script proper. */
  readonly #script: string;
  /** The script proper: gzip, then base85. */
  readonly #packed: string;

  constructor(main: HTMLElement) {
    this.body = main.innerHTML;
    this.#head = document.head.innerHTML.replace(/<title>.*?<\/title>/s, "");
    this.#script = document.querySelector("body > script:not([type])")?.textContent ?? "";
    this.#packed = document.querySelector(`.${SCRIPT}`)?.textContent ?? "";
  }

  /** The state that an earlier reader saved. */
  static view(): View | null {
    const text = document.getElementById(VIEW)?.textContent;
    return text ? (JSON.parse(text) as View) : null;
  }

  /** The compiled core: gzip, then base85. */
  static core(): string {
    const text = document.querySelector(`.${CORE}`)?.textContent;
    if (!text) throw new Error("this page lacks kinetoscope.wasm: create the page again");
    return text;
  }

  /** The file of a memory snapshot, as the core's `base85`. */
  static memory(): string | undefined {
    return document.querySelector(".ks-memory")?.textContent ?? undefined;
  }

  static traces(): readonly PageTrace[] {
    const elements = [...document.querySelectorAll<HTMLElement>(".ks-snapshot")];
    return elements.map((element) => ({
      text: element.textContent ?? "",
      rank: element.hasAttribute("data-rank") ? Number(element.getAttribute("data-rank")) : null,
      name: element.getAttribute("data-name") ?? "",
    }));
  }

  /** Writes a page with this body, these traces and the reader's state. */
  write(title: string, body: string, traces: readonly PageTrace[], view: View): string {
    const core = data(CORE, PageFile.core(), "");
    const snapshots = traces.map(({ text, rank, name }) => {
      const told = rank === null ? "" : ` data-rank="${rank}"`;
      return data("ks-snapshot", text, name ? `${told} data-name="${escaped(name)}"` : told);
    });
    const left = JSON.stringify(view).replaceAll("<", "\\u003c");
    return [
      `<!doctype html><html lang="en"><head>${this.#head}<title>${escaped(title)}</title></head><body>`,
      `<main class="ks-page">${body}</main>${core}${snapshots.join("")}${data(SCRIPT, this.#packed, "")}`,
      `<script type="application/json" id="${VIEW}">${left}</script><script>${this.#script}</script></body></html>\n`,
    ].join("");
  }
}

function data(name: string, text: string, attributes: string): string {
  return `<script type="application/octet-stream;base85" class="${name}"${attributes}>${text}</script>`;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

const escaped = (text: string) => text.replace(/[&<>"]/g, (letter) => ENTITIES[letter] ?? letter);
