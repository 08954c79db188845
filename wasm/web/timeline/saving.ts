import { gzip } from "../base/bytes";
import { Cell } from "../base/cell";
import { download, fileName } from "../base/download";
import { formatDuration, formatPlural } from "../base/format";
import { lengthOf, type Span } from "../base/time";
import type { Overview } from "../source/protocol";
import { messageOf, type Source, type TakenAway } from "../source/source";

/** Traces on their way into a page, with what the page is to say of them. */
export interface PageCopy {
  readonly traces: TakenAway;
  readonly title: string;
  readonly facts: readonly (readonly [string, string])[];
}

/** Writes a page like the one that the timeline is on. */
export type SavePage = (copy: PageCopy) => void;

export type Form = "trace" | "page";

/** What the reader takes away. */
export class Saving {
  /** What came of the last try. */
  readonly said = new Cell("");
  readonly isRedacted = new Cell(false);
  title = "";
  /** Where the host is a page. */
  savePage: SavePage | null = null;
  readonly #source: Source;
  readonly #overview: () => Overview;

  constructor(source: Source, overview: () => Overview) {
    this.#source = source;
    this.#overview = overview;
  }

  /** Saves what lies in `range`, or all, once the screen has shown that it is at it. */
  save(form: Form, range: Span | null): void {
    this.said.set("Saving …");
    setTimeout(() => {
      this.#save(form, range).then(
        (said) => this.said.set(said),
        (error: unknown) => this.said.set(messageOf(error)),
      );
    });
  }

  async #save(form: Form, range: Span | null): Promise<string> {
    const redacted = this.isRedacted.value;
    const traces = this.#source.copy?.({ ...range, redacted });
    if (!traces) return this.#inPython(range);
    try {
      // A name may be what must not be told.
      const name = [redacted ? "trace" : fileName(this.title), range && nameOf(range)].filter(Boolean).join(" · ");
      if (form === "page") this.#savePage(traces, name, range);
      else await this.#saveTraces(traces, name);
      return form === "page" ? "The report is saved." : `${formatPlural(this.#overview().parts.length, "file")} saved.`;
    } finally {
      traces.close();
    }
  }

  #savePage(traces: TakenAway, title: string, range: Span | null): void {
    const facts: [string, string][] = [];
    if (!this.isRedacted.value) facts.push(["taken from", this.title]);
    if (range) facts.push(["range", `${formatDuration(lengthOf(range))} from ${formatDuration(range.start)}`]);
    if (this.isRedacted.value) facts.push(["redacted", "pseudonyms stand in the place of private texts"]);
    this.savePage?.({ traces, title, facts });
  }

  async #saveTraces(traces: TakenAway, name: string): Promise<void> {
    const { parts } = this.#overview();
    for (const { part, rank, window } of parts) {
      const which = parts.length > 1 ? `_${rank ?? part}${window ? `.${window}` : ""}` : "";
      download(`${fileName(name)}${which}.json.gz`, await gzip(traces.chrome(part)), "application/gzip");
    }
  }

  /** Who has the trace elsewhere is told how to have it there. */
  #inPython(range: Span | null): string {
    const origin = BigInt(this.#overview().parts[0]?.origin_ns ?? 0);
    const ns = (time: number) => String(origin + BigInt(Math.round(time)));
    const trim = range ? `.trim(${ns(range.start)}, ${ns(range.end)})` : "";
    const redact = this.isRedacted.value ? ".redact()" : "";
    return `The trace is in the kernel; there: trace${trim}${redact}.to_chrome("part.json.gz")`;
  }
}

const nameOf = (range: Span): string => `${formatDuration(lengthOf(range))} at ${formatDuration(range.start)}`;
