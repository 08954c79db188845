import { gzip } from "../base/bytes";
import { Cell } from "../base/cell";
import { download, fileName } from "../base/download";
import { formatDuration, formatPlural } from "../base/format";
import { lengthOf, type Span } from "../base/time";
import type { Overview, Setup } from "../source/protocol";
import { messageOf, type TakenAway } from "../source/source";
import type { StagedSource } from "../source/staged";
import { type Note, notesWithin } from "./notes";

/** Traces on their way into a page, with what the page is to say of them. */
export interface PageCopy {
  readonly traces: TakenAway;
  readonly title: string;
  readonly facts: readonly (readonly [string, string])[];
  /** Where they lie in the copy. */
  readonly notes: readonly Note[];
  /** How the traces lie. */
  readonly setup: Setup;
}

/** Writes a page like the one that the timeline is on. */
export type SavePage = (copy: PageCopy) => void;

export type Form = "trace" | "page";

/** Hands the reader a file for each trace, one after the other. */
export async function saveTraces(traces: TakenAway, name: string): Promise<void> {
  const { parts } = traces.query("overview", {});
  for (const { part, rank, window } of parts) {
    const which = parts.length > 1 ? `_${rank ?? part}${window ? `.${window}` : ""}` : "";
    download(`${fileName(name)}${which}.json.gz`, await gzip(traces.chrome(part)), "application/gzip");
  }
}

/** What the reader takes away. */
export class Saving {
  /** What came of the last try. */
  readonly said = new Cell("");
  readonly isRedacted = new Cell(false);
  title = "";
  /** Where the host is a page. */
  savePage: SavePage | null = null;
  readonly #source: StagedSource;
  readonly #overview: () => Overview;
  readonly #notes: () => readonly Note[];

  constructor(source: StagedSource, overview: () => Overview, notes: () => readonly Note[]) {
    this.#source = source;
    this.#overview = overview;
    this.#notes = notes;
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
    const traces = this.#source.copy({ ...range, redacted });
    if (!traces) return this.#inPython(range);
    try {
      // A name may be what must not be told.
      const name = [redacted ? "trace" : fileName(this.title), range && nameOf(range)].filter(Boolean).join(" · ");
      if (form === "page") this.#savePage(traces, name, range);
      else await saveTraces(traces, name);
      return form === "page" ? "The report is saved." : `${formatPlural(this.#overview().parts.length, "file")} saved.`;
    } finally {
      traces.close();
    }
  }

  #savePage(traces: TakenAway, title: string, range: Span | null): void {
    const facts: [string, string][] = [];
    if (!this.isRedacted.value) facts.push(["taken from", this.title]);
    if (this.isRedacted.value) facts.push(["redacted", "pseudonyms stand in the place of private texts"]);
    this.savePage?.({ traces, title, facts, notes: this.#notesIn(traces, range), setup: this.#source.setup });
  }

  /** The reader's notes as the copy has them; none where private texts are to stay behind, for a note may be one. */
  #notesIn(traces: TakenAway, range: Span | null): readonly Note[] {
    if (this.isRedacted.value) return [];
    if (!range) return this.#notes();
    const copied = traces.query("overview", { align: this.#source.setup.align });
    const later = originOf(copied) - originOf(this.#overview());
    return notesWithin(this.#notes(), range, Number(later));
  }

  /** Who has the trace elsewhere is told how to have it there. */
  #inPython(range: Span | null): string {
    const { parts } = this.#overview();
    const redact = this.isRedacted.value ? ".redact()" : "";
    const within = (trim: (time: number) => string) => (range ? `.trim(${trim(range.start)}, ${trim(range.end)})` : "");
    if (parts.length === 1) {
      const origin = originOf(this.#overview());
      const trim = within((time) => String(origin + BigInt(Math.round(time))));
      return `The trace is in the kernel; there: trace${trim}${redact}.to_chrome("part.json.gz")`;
    }
    // What the screen shows at one time may have another on each rank.
    const origins = parts.map((part) => part.origin_ns).join(", ");
    const each = `for at, (trace, zero) in enumerate(zip(traces, [${origins}])): trace`;
    const trim = within((time) => `zero + ${Math.round(time)}`);
    return `The traces are in the kernel; there: ${each}${trim}${redact}.to_chrome(f"part_{at}.json.gz")`;
  }
}

/** The time of the first trace that the screen calls 0. */
const originOf = ({ parts }: Overview): bigint => BigInt(parts[0]?.origin_ns ?? 0);

const nameOf = (range: Span): string => `${formatDuration(lengthOf(range))} at ${formatDuration(range.start)}`;
