import type { Part } from "../source/core";

/** What the reader left on the page: where they looked, and what they wrote. */
export interface View {
  readonly hash: string;
  /** As the timeline keeps them. */
  readonly notes: readonly unknown[];
}

/** A trace in a page. */
export interface PageTrace {
  readonly base64: string;
  readonly rank: number | null;
  /** What it is called, if it is called anything. */
  readonly name?: string;
}

const VIEW = "ks-view";
const CORE = "ks-wasm";
// A page with traces reads no others.
const CARRIED: readonly Part[] = ["kinetoscope", "analyses", "sharing"];

/** The page as it came, before scripts changed it, to be written again. */
export class PageFile {
  readonly body: string;
  readonly #head: string;
  readonly #script: string;

  constructor(main: HTMLElement) {
    this.body = main.innerHTML;
    this.#head = document.head.innerHTML.replace(/<title>.*?<\/title>/s, "");
    this.#script = document.querySelector("body > script:not([type])")?.textContent ?? "";
  }

  /** What an earlier reader left. */
  static view(): View | null {
    const text = document.getElementById(VIEW)?.textContent;
    return text ? (JSON.parse(text) as View) : null;
  }

  /** A module of the compiled core, as base64. */
  static core(part: Part): string {
    const text = document.querySelector(`.${CORE}[data-part="${part}"]`)?.textContent;
    if (!text) throw new Error(`expected ${part}.wasm in the page, found none`);
    return text;
  }

  static traces(): readonly PageTrace[] {
    const elements = [...document.querySelectorAll<HTMLElement>(".ks-snapshot")];
    return elements.map((element) => ({
      base64: element.textContent ?? "",
      rank: element.hasAttribute("data-rank") ? Number(element.getAttribute("data-rank")) : null,
      name: element.getAttribute("data-name") ?? "",
    }));
  }

  /** A page with this body, these traces, and what the reader leaves. */
  write(title: string, body: string, traces: readonly PageTrace[], view: View): string {
    const core = CARRIED.map((part) => data(CORE, PageFile.core(part), ` data-part="${part}"`));
    const snapshots = traces.map(({ base64, rank, name }) => {
      const told = rank === null ? "" : ` data-rank="${rank}"`;
      return data("ks-snapshot", base64, name ? `${told} data-name="${escaped(name)}"` : told);
    });
    const left = JSON.stringify(view).replaceAll("<", "\\u003c");
    return [
      `<!doctype html><html lang="en"><head>${this.#head}<title>${escaped(title)}</title></head><body>`,
      `<main class="ks-page">${body}</main>${core.join("")}${snapshots.join("")}`,
      `<script type="application/json" id="${VIEW}">${left}</script><script>${this.#script}</script></body></html>\n`,
    ].join("");
  }
}

function data(name: string, base64: string, attributes: string): string {
  return `<script type="application/octet-stream;base64" class="${name}"${attributes}>${base64}</script>`;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

const escaped = (text: string) => text.replace(/[&<>"]/g, (letter) => ENTITIES[letter] ?? letter);
