/** What the widget loads once for all timelines of a page. It knows a notebook only through `Notebook`. */
import { gunzip } from "../base/bytes";
import type { Cell } from "../base/cell";
import { Cleanup } from "../base/cleanup";
import type { Part } from "../source/core";
import { openSource, type Supply, type Where } from "../source/open";
import type { Setup } from "../source/protocol";
import { share } from "../source/shared";
import { type MountedTimeline, mountTimeline } from "../timeline/mount";
import type { Note } from "../timeline/notes";
import type { Mailbox } from "./mailbox";
import { openShadow } from "./shadow";
import { suppressShortcuts } from "./shortcuts";
import { Strip } from "./strip";
import { type WantedTheme, watchTheme } from "./theme";

/** What is chosen, as it is synced and saved with the notebook. */
export interface Chosen {
  readonly selection: number | null;
  readonly range: readonly [number, number] | null;
  /** The part that Python wants on the screen. */
  readonly shown: readonly [number, number] | null;
  readonly notes: readonly Note[];
}

/** What the notebook lends a timeline. */
export interface Notebook {
  readonly mailbox: Mailbox;
  /** Tells one trace from others of the page. */
  readonly key: string;
  /** Tells this code from that of other versions. */
  readonly code: string;
  readonly where: Where;
  /** The traces that are on the screen, in their order. */
  readonly parts: readonly { readonly name: string; readonly rank: number | null }[];
  readonly setup: Setup;
  readonly note: string;
  readonly theme: Cell<WantedTheme>;
  readonly chosen: Chosen;
  readonly onSelect: (id: number | null) => void;
  readonly onRange: (range: [number, number] | null) => void;
  readonly onNotes: (notes: readonly Note[]) => void;
  readonly onSetup: (setup: Setup) => void;
}

/** A timeline under a cell. */
export interface Viewer {
  go(id: number): void;
  show(start: number, end: number): void;
  /** Shows these notes instead of those that were there. */
  restoreNotes(notes: readonly Note[]): void;
  /** Says what the reader should know, until it is closed. */
  say(text: string): void;
  close(): void;
}

/** Opens a timeline in `around`, which then holds nothing else. Rejects when nobody can answer about its trace. */
export async function open(around: HTMLElement, notebook: Notebook): Promise<Viewer> {
  const notes: string[] = notebook.note ? [notebook.note] : [];
  let tell = (note: string): void => {
    notes.push(note);
  };
  const source = await share(notebook.key, () =>
    openSource(
      notebook.where,
      supplyOf(notebook, (note) => tell(note)),
    ),
  );
  try {
    const overview = await source.query("overview", notebook.setup);
    const cleanup = new Cleanup();
    const theme = watchTheme(notebook.theme, cleanup);
    around.replaceChildren();
    const root = openShadow(around);
    const { host } = root.getRootNode() as ShadowRoot;
    // It is what the page sees as a key's target, and what it looks at first.
    suppressShortcuts(host as HTMLElement, cleanup);
    const strip = new Strip(root, theme);
    cleanup.add(() => strip.close());
    const mounted = mountTimeline(root, source, overview, {
      theme,
      name: notebook.parts[0]?.name,
      notes: notebook.chosen.notes,
      onSelect: notebook.onSelect,
      onNotes: notebook.onNotes,
      onSetup: notebook.onSetup,
      setup: notebook.setup,
      onRange: (range) => notebook.onRange(range && [range.start, range.end]),
    });
    cleanup.add(() => mounted.close());
    tell = (note) => strip.say("where", "note", note);
    if (notes.length > 0) tell(notes.join(" "));
    cleanup.add(watchSilence(notebook.mailbox, strip));
    restore(mounted, notebook.chosen);
    return {
      go: (id) => mounted.go(id),
      show: (start, end) => mounted.show(start, end),
      restoreNotes: (notes) => mounted.restoreNotes(notes),
      say: (text) => strip.say("said", "alert", text),
      close: () => cleanup.run(),
    };
  } catch (error) {
    source.close();
    throw error;
  }
}

function supplyOf({ mailbox, code, parts }: Notebook, tell: (note: string) => void): Supply {
  const core = (part: Part) => mailbox.get(`${part}.wasm.gz`).then(gunzip);
  const snapshot = async ({ name, rank }: { name: string; rank: number | null }, at: number) => {
    return { bytes: await mailbox.get(`snapshot/${at}`), name, rank };
  };
  return { kernel: mailbox, version: code, core, snapshots: () => Promise.all(parts.map(snapshot)), tell };
}

function watchSilence({ isSilent }: Mailbox, strip: Strip): () => void {
  const text =
    "Python does not answer. Is the kernel running, or busy with a cell? What is asked of it comes when it does.";
  const update = () => strip.say("silence", "alert", isSilent.value ? text : "");
  update();
  return isSilent.subscribe(update);
}

/** Brings back what was chosen before this view was there. */
function restore(mounted: MountedTimeline, { selection, range, shown }: Chosen): void {
  if (range) mounted.mark(...range);
  if (selection !== null) mounted.go(selection);
  if (shown) mounted.show(...shown);
}
