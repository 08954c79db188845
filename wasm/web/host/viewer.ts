/**
 * The widget loads this module once for all timelines of a page. It knows notebooks only as
 * `Notebook`.
 */
import { gunzip } from "../base/bytes";
import type { Cell } from "../base/cell";
import { Cleanup } from "../base/cleanup";
import { openSource, type Supply, type Where } from "../source/open";
import type { Setup } from "../source/protocol";
import { share } from "../source/shared";
import type { OpenFlame } from "../timeline/flame";
import { type MountedTimeline, mountTimeline } from "../timeline/mount";
import type { Note } from "../timeline/notes";
import type { Mailbox } from "./mailbox";
import { openShadow } from "./shadow";
import { suppressShortcuts } from "./shortcuts";
import { MessageStrip } from "./strip";
import { type WantedTheme, watchTheme } from "./theme";

/** The reader's choices, synced with Python and saved with the notebook. */
export interface Chosen {
  readonly selection: number | null;
  readonly range: readonly [number, number] | null;
  /** The range that Python asked to show. */
  readonly shown: readonly [number, number] | null;
  readonly notes: readonly Note[];
}

/** Everything that a timeline needs from a notebook. */
export interface Notebook {
  readonly mailbox: Mailbox;
  /** Identifies the widget on the page. */
  readonly key: string;
  /** Identifies the traces, which other widgets may show, too. */
  readonly traces: string;
  /** Identifies the version of this code. */
  readonly code: string;
  readonly where: Where;
  /** The traces on the screen, in their order. */
  readonly parts: readonly { readonly name: string; readonly rank: number | null }[];
  readonly setup: Setup;
  readonly note: string;
  /** The flame graph to begin with; null for the tracks. */
  readonly flame: OpenFlame | null;
  readonly theme: Cell<WantedTheme>;
  readonly chosen: Chosen;
  readonly onSelect: (id: number | null) => void;
  readonly onRange: (range: [number, number] | null) => void;
  readonly onNotes: (notes: readonly Note[]) => void;
  readonly onSetup: (setup: Setup) => void;
}

/** A timeline in an output cell. */
export interface Viewer {
  go(id: number): void;
  show(start: number, end: number): void;
  /** Replaces all notes. */
  restoreNotes(notes: readonly Note[]): void;
  /** Shows an alert until the reader closes it. */
  say(text: string): void;
  close(): void;
}

/**
 * Opens a timeline in `around`, in place of its content. Rejects when neither the page nor the
 * kernel can answer.
 */
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
    // The page sees this element as a key's target.
    suppressShortcuts(host as HTMLElement, cleanup);
    const strip = new MessageStrip(root, theme);
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
    if (notebook.flame) mounted.openFlame(notebook.flame);
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

function supplyOf({ mailbox, code, traces, parts }: Notebook, tell: (note: string) => void): Supply {
  const core = () => mailbox.get("kinetoscope.wasm.gz").then(gunzip);
  const snapshot = async ({ name, rank }: { name: string; rank: number | null }, at: number) => {
    return { bytes: await mailbox.get(`snapshot/${at}`), name, rank };
  };
  const snapshots = () => Promise.all(parts.map(snapshot));
  return { kernel: mailbox, version: code, core, key: traces, snapshots, tell };
}

function watchSilence({ isSilent }: Mailbox, strip: MessageStrip): () => void {
  const text =
    "Python does not answer. The kernel may be busy with a cell, or not running. Requests wait until it answers.";
  const update = () => strip.say("silence", "alert", isSilent.value ? text : "");
  update();
  return isSilent.subscribe(update);
}

/** Restores choices made before this view opened. */
function restore(mounted: MountedTimeline, { selection, range, shown }: Chosen): void {
  if (range) mounted.mark(...range);
  if (selection !== null) mounted.go(selection);
  if (shown) mounted.show(...shown);
}
