import { fromBase85, gunzip, gzip } from "../base/bytes";
import { Cell } from "../base/cell";
import { Cleanup } from "../base/cleanup";
import { copyText } from "../base/clipboard";
import { download, fileName } from "../base/download";
import { addActions, type PageAction } from "../report/actions";
import { awaitFiles, keepDropsAway } from "../report/drop";
import { followHash, formatHash, type HashFollower, leadsSomewhere, type Target } from "../report/hash";
import { followLinks } from "../report/links";
import { followMemory } from "../report/memory";
import { PageFile, type PageTrace } from "../report/page-file";
import { mayOpenPerfetto, openPerfetto } from "../report/perfetto";
import { addSkipLink, searchFromAnywhere } from "../report/reach";
import { addTableTools } from "../report/table-tools";
import { dressTables } from "../report/tables";
import { loadCore } from "../source/core";
import { readAll, readMemory } from "../source/files";
import { MemorySource } from "../source/memory";
import type { EventId, Overview } from "../source/protocol";
import { WasmSource } from "../source/session";
import { type ExportSource, messageOf } from "../source/source";
import { type MountedTimeline, mountTimeline } from "../timeline/mount";
import type { Note } from "../timeline/notes";
import { type PageCopy, saveTraces } from "../timeline/saving";
import { openShadow } from "./shadow";
import { type WantedTheme, watchTheme } from "./theme";

/** A page and the traces in it. */
interface Page {
  readonly file: PageFile;
  /** The report's body as it was before scripts changed it. */
  readonly body: string;
  readonly source: WasmSource;
  readonly traces: () => readonly PageTrace[];
}

/** Brings a page to life: its report, or the place for files. */
export function startPage(main: HTMLElement): void {
  const file = new PageFile(main);
  const traces = PageFile.traces();
  const memory = PageFile.memory();
  if (memory !== undefined) {
    openMemory(main, memory).catch((error: unknown) => {
      decorate(main);
      main.prepend(note(`Only the tables and pictures work: ${messageOf(error)}`));
    });
    return;
  }
  if (traces.length === 0) {
    awaitFiles(main, (files) => read(main, file, files));
    return;
  }
  open(main, file, traces).catch((error: unknown) => {
    decorate(main);
    fail(error);
  });
}

async function openMemory(main: HTMLElement, text: string): Promise<void> {
  await loadPageCore();
  bringMemory(main, new MemorySource(fromBase85(text)));
}

const loadPageCore = () => loadCore("page", () => gunzip(fromBase85(PageFile.core())));

async function open(main: HTMLElement, file: PageFile, traces: readonly PageTrace[]): Promise<void> {
  const snapshots = traces.map(({ text, rank, name }) => ({ bytes: fromBase85(text), name: name ?? "", rank }));
  await loadPageCore();
  const source = new WasmSource(snapshots);
  bring(main, { file, body: file.body, source, traces: () => traces });
}

/** Turns the reader's files into a report in this page. */
async function read(main: HTMLElement, file: PageFile, files: readonly File[]): Promise<void> {
  await loadPageCore();
  const memory = await readMemory(files);
  if (memory !== undefined) return showMemory(main, memory, files[0]?.name ?? "");
  const { source, names, skipped } = await readAll(files);
  const title = names.length > 1 ? `${names.length} traces` : (names[0] ?? "");
  const isSkipped = ({ name }: File) => skipped.some((left) => left.name === name);
  const facts = [
    ...files.filter((file) => !isSkipped(file)).map((file) => ["file", file.name] as const),
    ...skipped.map(({ name, why }) => ["skipped", `${name}: ${why}`] as const),
  ];
  const body = source.query("report", { title, facts }).html;
  document.title = title;
  main.innerHTML = body;
  bring(main, { file, body, source, traces: () => pageTraces(source) });
  if (skipped.length > 0) tell(`Skipped: ${skipped.map(({ name, why }) => `${name} (${why})`).join("; ")}`);
}

/** Shows a memory snapshot, which has no timeline. */
function showMemory(main: HTMLElement, memory: MemorySource, title: string): void {
  document.title = title;
  main.innerHTML = memory.page(title);
  bringMemory(main, memory);
}

/** Connects the page of a memory snapshot with its file. */
function bringMemory(main: HTMLElement, memory: MemorySource): void {
  decorate(main);
  const say = (text: string) => {
    const made = note(text);
    main.prepend(made);
  };
  followMemory(main, memory, (error) => say(`Error: ${messageOf(error)}`));
  keepDropsAway(say);
}

/** Makes static tables interactive. Runs once. */
function decorate(main: HTMLElement): void {
  if (main.classList.contains("ks-drawn")) return;
  main.classList.add("ks-drawn");
  dressTables(main);
}

/** Mounts the timeline, and connects it with the page around it. */
function bring(main: HTMLElement, page: Page): void {
  const place = document.getElementById("ks-timeline");
  if (!place) throw new Error("expected #ks-timeline, found none");
  const left = PageFile.view();
  const notes = new Cell((left?.notes ?? []) as readonly Note[]);
  const hash = followHash(left?.hash);
  const overview = page.source.query("overview", hash.target.setup);
  if (overview.trimmed) hash.begin(overview.trimmed);
  // A new task lets the browser paint the picture first.
  const onDrawn = () => setTimeout(() => decorate(main));
  const mounted = mount(place, page, overview, { notes, hash, onDrawn });
  const go = (target: Target) => show(mounted, page.source, target);
  hash.listen((target) => {
    mounted.setUp(target.setup);
    if (!leadsSomewhere(target)) mounted.leave();
    go(target);
    // A page that opens at its own range starts at the top.
    if (target.range === overview.trimmed || !leadsSomewhere(target)) return;
    place.scrollIntoView({ block: "nearest" });
    mounted.focus();
  });
  followLinks(main, place, ({ range, part, event, gap }) => {
    // Ranges in the report are for the default alignment.
    if (range) mounted.setUp({ align: undefined });
    hash.tell({ range, part, event, gap });
    go({ ...hash.target, view: null, range, part, event, gap });
    mounted.focus();
  });
  const reach = () => place.scrollIntoView({ block: "nearest" });
  addSkipLink(main, () => {
    reach();
    mounted.focus();
  });
  searchFromAnywhere(() => {
    reach();
    mounted.search();
  });
  for (const figure of main.querySelectorAll<HTMLElement>("[data-analysis]")) {
    addTableTools(figure, page.source, fail);
  }
  const nav = main.querySelector<HTMLElement>(".ks-nav");
  const saved = new Cell(notes.value);
  // Its keys work after the jump, with which the browser takes the focus away.
  const focusLater = () => setTimeout(() => mounted.focus());
  nav?.querySelector("a[href='#timeline']")?.addEventListener("click", focusLater);
  if (nav) addActions(nav, actions(page, { notes, saved, hash, mounted }), fail);
  addEventListener("beforeunload", (event) => {
    if (notes.value !== saved.value) event.preventDefault();
  });
  keepDropsAway(tell);
}

/** Traces in the form that pages carry. */
const pageTraces = (traces: ExportSource): readonly PageTrace[] =>
  traces.query("overview", {}).parts.map(({ part, rank, name }) => ({ text: traces.snapshotText(part), rank, name }));

/** Saves a page with these traces. */
function savePage(file: PageFile, { traces, title, facts, notes, setup }: PageCopy): void {
  const body = traces.query("report", { title, facts }).html;
  const view = { hash: formatHash({ view: null, range: null, part: null, event: null, gap: null, setup }), notes };
  download(`${fileName(title)}.html`, file.write(title, body, pageTraces(traces), view), "text/html");
}

/** State that the timeline and the page share. */
interface PageState {
  readonly notes: Cell<readonly Note[]>;
  readonly hash: HashFollower;
  readonly onDrawn: () => void;
}

function mount(
  place: HTMLElement,
  { file, source }: Page,
  overview: Overview,
  { notes, hash, onDrawn }: PageState,
): MountedTimeline {
  const picture = [...place.childNodes];
  place.classList.add("ks-live");
  const mounted = mountTimeline(openShadow(place), source, overview, {
    theme: watchTheme(new Cell<WantedTheme>("auto"), new Cleanup()),
    title: document.title,
    notes: notes.value,
    savePage: (copy) => savePage(file, copy),
    setup: hash.target.setup,
    onSetup: (setup) => hash.tell({ setup }),
    onSelect: (id) => hash.tell(id === null ? { event: id } : { event: id, gap: null }),
    onRange: (range, part) => hash.tell({ range, part: overview.parts.length > 1 ? part : null }),
    onNotes: (all) => notes.set(all),
    onDrawn,
  });
  // The style sheet limits the height, so that details and text have room.
  place.style.height = `${mounted.naturalHeight}px`;
  // The static picture stays for printing.
  const paper = document.createElement("div");
  paper.className = "ks-on-paper";
  paper.append(...picture);
  place.after(paper);
  return mounted;
}

// Share of a linked range to show on both sides of it.
const MARGIN = 0.03;

function show(mounted: MountedTimeline, source: WasmSource, { view, range, part, event, gap }: Target): void {
  if (range) {
    const margin = MARGIN * (range.end - range.start);
    mounted.show(range.start - margin, range.end + margin);
    mounted.mark(range.start, range.end, part);
  }
  if (event !== null) whereThere(source, event, () => mounted.go(event));
  else if (gap !== null) whereThere(source, gap, () => mounted.explainBefore(gap));
  if (view) mounted.show(view.start, view.end);
}

function whereThere(source: WasmSource, event: EventId, go: () => void): void {
  if (has(source, event)) go();
  // A shrunk page has fewer events than its tables mention.
  else fail(new Error(`event ${event} is not in this page: a size limit removed it, or the id is wrong`));
}

function has(source: WasmSource, id: EventId): boolean {
  try {
    source.query("event", { id });
    return true;
  } catch {
    return false;
  }
}

/** The reader's work, and how much of it is saved. */
interface ReaderState {
  readonly notes: Cell<readonly Note[]>;
  readonly saved: Cell<readonly Note[]>;
  readonly hash: HashFollower;
  readonly mounted: MountedTimeline;
}

function actions({ file, body, source, traces }: Page, reading: ReaderState): readonly PageAction[] {
  const { notes, saved, hash, mounted } = reading;
  const here = () => formatHash({ ...hash.target, view: mounted.view });
  const name = fileName(document.title);
  const saveTrace = () => void saveTraces(source, name).catch(fail);
  const copyLink = {
    label: "Copy link",
    title: "Copy this page's address with the current view",
    run: async () => {
      await copyText(location.href.replace(/#.*$/s, "") + here(), document.body);
      return "copied";
    },
  };
  return [
    // In JupyterLab, the address of the page leads to an empty one.
    ...(parent === window || PageFile.traces().length > 0 ? [copyLink] : []),
    {
      label: "Save a copy",
      title: "Save this page with your notes and the current view",
      run: () => {
        const view = { hash: here(), notes: notes.value };
        download(`${name}.html`, file.write(document.title, body, traces(), view), "text/html");
        saved.set(notes.value);
        return undefined;
      },
    },
    {
      label: "Save the trace",
      title: "Save the trace as Chrome JSON for other viewers",
      run: () => {
        saveTrace();
        return undefined;
      },
    },
    {
      label: "Perfetto",
      title: "Open the trace in ui.perfetto.dev",
      run: () => {
        if (mayOpenPerfetto()) {
          openPerfetto(() => gzip(source.chrome(0)), document.title, fail);
          return undefined;
        }
        saveTrace();
        return "saved: drop the file onto ui.perfetto.dev, which accepts no traces from local pages";
      },
    },
  ];
}

/** Shows an error above the timeline. The page stays readable. */
function fail(error: unknown): void {
  const place = document.getElementById("ks-timeline");
  const failed = place?.classList.contains("ks-live") ? "Error" : "Cannot show the timeline";
  tell(`${failed}: ${messageOf(error)}`);
}

/** Replaces the message above the timeline. */
function tell(text: string): void {
  const made = note(text);
  document.getElementById("ks-timeline")?.before(made);
}

/** The only message on the page. */
function note(text: string): HTMLElement {
  for (const earlier of document.querySelectorAll(".ks-error-note")) earlier.remove();
  const made = document.createElement("p");
  made.className = "ks-note ks-error-note";
  made.setAttribute("role", "alert");
  made.textContent = text;
  return made;
}
