import { gzip } from "../base/bytes";
import { Cell } from "../base/cell";
import { download, fileName } from "../base/download";
import { formatDuration, formatPlural } from "../base/format";
import { lengthOf, type Span } from "../base/time";
import type { Overview, Setup } from "../source/protocol";
import { type ExportSource, messageOf } from "../source/source";
import type { StagedSource } from "../source/staged";
import { type Note, notesWithin } from "./notes";

/** Traces to save as a page, with the page's texts. */
export interface PageCopy {
  readonly traces: ExportSource;
  readonly title: string;
  readonly facts: readonly (readonly [string, string])[];
  /** Notes at their times in the copy. */
  readonly notes: readonly Note[];
  /** Options of the screen. */
  readonly setup: Setup;
}

/** Saves a page like the one around the timeline. */
export type SavePage = (copy: PageCopy) => void;

export type ExportFormat = "trace" | "page";

/** Saves a file for each trace, one after the other. */
export async function saveTraces(traces: ExportSource, name: string): Promise<void> {
  const { parts } = traces.query("overview", {});
  for (const { part, rank, window } of parts) {
    const which = parts.length > 1 ? `_${rank ?? part}${window ? `.${window}` : ""}` : "";
    download(`${fileName(name)}${which}.json.gz`, await gzip(traces.chrome(part)), "application/gzip");
  }
}

/** Exports of the reader. */
export class Saving {
  /** Result of the last export, for the reader. */
  readonly said = new Cell("");
  readonly isRedacted = new Cell(false);
  title = "";
  /** Set where the host is a page. */
  savePage: SavePage | null = null;
  readonly #source: StagedSource;
  readonly #overview: () => Overview;
  readonly #notes: () => readonly Note[];

  constructor(source: StagedSource, overview: () => Overview, notes: () => readonly Note[]) {
    this.#source = source;
    this.#overview = overview;
    this.#notes = notes;
  }

  /** Saves `range`, or everything, after the screen has shown that it is busy. */
  save(form: ExportFormat, range: Span | null): void {
    this.said.set("Saving …");
    setTimeout(() => {
      this.#save(form, range).then(
        (said) => this.said.set(said),
        (error: unknown) => this.said.set(messageOf(error)),
      );
    });
  }

  async #save(form: ExportFormat, range: Span | null): Promise<string> {
    const redacted = this.isRedacted.value;
    const traces = this.#source.copy({ ...range, redacted });
    if (!traces) return this.#inPython(range);
    try {
      // A file name may be private, too.
      const name = [redacted ? "trace" : fileName(this.title), range && nameOf(range)].filter(Boolean).join(" · ");
      if (form === "page") this.#savePage(traces, name, range);
      else await saveTraces(traces, name);
      return form === "page" ? "Report saved." : `${formatPlural(this.#overview().parts.length, "file")} saved.`;
    } finally {
      traces.close();
    }
  }

  #savePage(traces: ExportSource, title: string, range: Span | null): void {
    const facts: [string, string][] = [];
    if (!this.isRedacted.value) facts.push(["copied from", this.title]);
    if (this.isRedacted.value) facts.push(["redacted", "private text is replaced by pseudonyms"]);
    this.savePage?.({ traces, title, facts, notes: this.#notesIn(traces, range), setup: this.#source.setup });
  }

  /** Notes for the copy. A redacted copy has none: a note may hold private text. */
  #notesIn(traces: ExportSource, range: Span | null): readonly Note[] {
    if (this.isRedacted.value) return [];
    if (!range) return this.#notes();
    const copied = traces.query("overview", { align: this.#source.setup.align });
    const later = originOf(copied) - originOf(this.#overview());
    return notesWithin(this.#notes(), range, Number(later));
  }

  /** Python code for the same export, where the trace is not in this page. */
  #inPython(range: Span | null): string {
    const { parts } = this.#overview();
    const redact = this.isRedacted.value ? ".redact()" : "";
    const within = (trim: (time: number) => string) => (range ? `.trim(${trim(range.start)}, ${trim(range.end)})` : "");
    if (parts.length === 1) {
      const origin = originOf(this.#overview());
      const trim = within((time) => String(origin + BigInt(Math.round(time))));
      return `The trace is in the kernel. Run there: trace${trim}${redact}.to_chrome("part.json.gz")`;
    }
    // One time of the screen may be another time on each rank.
    const origins = parts.map((part) => part.origin_ns).join(", ");
    const each = `for at, (trace, zero) in enumerate(zip(traces, [${origins}])): trace`;
    const trim = within((time) => `zero + ${Math.round(time)}`);
    return `The traces are in the kernel. Run there: ${each}${trim}${redact}.to_chrome(f"part_{at}.json.gz")`;
  }
}

/** The first trace's own time at 0 of the screen. */
const originOf = ({ parts }: Overview): bigint => BigInt(parts[0]?.origin_ns ?? 0);

const nameOf = (range: Span): string => `${formatDuration(lengthOf(range))} at ${formatDuration(range.start)}`;
