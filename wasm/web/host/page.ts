import { fromBase64, gunzip, gzip, toBase64 } from "../base/bytes";
import { Cell } from "../base/cell";
import { Cleanup } from "../base/cleanup";
import { copyText } from "../base/clipboard";
import { download, fileName } from "../base/download";
import { type Action, addActions } from "../report/actions";
import { makeCopyable } from "../report/copyable";
import { awaitFiles, keepDropsAway } from "../report/drop";
import { followHash, formatHash, type HashFollower, type Target } from "../report/hash";
import { followLinks } from "../report/links";
import { PageFile, type PageTrace } from "../report/page-file";
import { mayOpenPerfetto, openPerfetto } from "../report/perfetto";
import { makeSortable } from "../report/sortable";
import { addTableTools } from "../report/table-tools";
import { Core, type Later } from "../source/core";
import { readAll } from "../source/files";
import type { EventId, Overview } from "../source/protocol";
import { WasmSource } from "../source/session";
import { messageOf, type TakenAway } from "../source/source";
import { type MountedTimeline, mountTimeline } from "../timeline/mount";
import type { Note } from "../timeline/notes";
import { type PageCopy, saveTraces } from "../timeline/saving";
import { openShadow } from "./shadow";
import { type WantedTheme, watchTheme } from "./theme";

/** A page with what it is about. */
interface Page {
  readonly file: PageFile;
  /** The body of the report, as it is without scripts. */
  readonly body: string;
  readonly source: WasmSource;
  readonly traces: () => readonly PageTrace[];
}

const main = document.querySelector("main");

function start(main: HTMLElement): void {
  const file = new PageFile(main);
  const traces = PageFile.traces();
  if (traces.length === 0) {
    awaitFiles(main, (files) => read(main, file, files));
    return;
  }
  open(main, file, traces).catch((error: unknown) => {
    decorate(main);
    fail(error);
  });
}

// A page answers at once, so it begins with all that it needs.
const core = (...more: readonly Later[]) =>
  Core.open("page", (part) => gunzip(fromBase64(PageFile.core(part))), ["analyses", "sharing", ...more]);

async function open(main: HTMLElement, file: PageFile, traces: readonly PageTrace[]): Promise<void> {
  const snapshots = traces.map(({ base64, rank, name }) => ({ bytes: fromBase64(base64), name: name ?? "", rank }));
  const source = new WasmSource(await core(), snapshots);
  bring(main, { file, body: file.body, source, traces: () => traces });
}

/** Files of the reader's own become a report in this page. */
async function read(main: HTMLElement, file: PageFile, files: readonly File[]): Promise<void> {
  const { source, names, leftOut } = await readAll(await core("reader"), files);
  const title = names.length > 1 ? `${names.length} traces` : (names[0] ?? "");
  const isLeftOut = ({ name }: File) => leftOut.some((left) => left.name === name);
  const facts = [
    ...files.filter((file) => !isLeftOut(file)).map((file) => ["file", file.name] as const),
    ...leftOut.map(({ name, why }) => ["left out", `${name}: ${why}`] as const),
  ];
  const body = source.query("report", { title, facts }).html;
  document.title = title;
  main.innerHTML = body;
  bring(main, { file, body, source, traces: () => pageTraces(source) });
  if (leftOut.length > 0) tell(`Left out: ${leftOut.map(({ name, why }) => `${name} (${why})`).join("; ")}`);
}

/** Once: what needs no core, and what is laid out late. */
function decorate(main: HTMLElement): void {
  if (main.classList.contains("ks-drawn")) return;
  main.classList.add("ks-drawn");
  for (const table of main.querySelectorAll("table")) makeSortable(table);
  for (const cell of main.querySelectorAll<HTMLElement>("td.ks-name")) makeCopyable(cell);
}

/** Puts the timeline in its place, and what the reader can do with the page beside it. */
function bring(main: HTMLElement, page: Page): void {
  const place = document.getElementById("ks-timeline");
  if (!place) throw new Error("expected #ks-timeline, found none");
  const left = PageFile.view();
  const notes = new Cell((left?.notes ?? []) as readonly Note[]);
  const hash = followHash(left?.hash);
  const overview = page.source.query("overview", hash.target.setup);
  if (overview.trimmed) hash.begin(overview.trimmed);
  // In a task of its own, so that the picture comes onto the screen before.
  const onDrawn = () => setTimeout(() => decorate(main));
  const mounted = mount(place, page, overview, { notes, hash, onDrawn });
  const go = (target: Target) => show(mounted, page.source, target);
  hash.listen((target) => {
    mounted.setUp(target.setup);
    if (!target.range && target.event === null) mounted.leave();
    go(target);
    // A page that opens at its own range is read from the top.
    const isSent = target.range !== null && target.range !== overview.trimmed;
    if (isSent || target.event !== null) place.scrollIntoView({ block: "nearest" });
  });
  followLinks(main, place, ({ range, part, event }) => {
    // Ranges in the report are those of traces that lie as they come.
    if (range) mounted.setUp({ align: undefined });
    hash.tell({ range, part, event });
    go({ ...hash.target, view: null, range, part, event });
  });
  for (const figure of main.querySelectorAll<HTMLElement>("[data-analysis]")) {
    addTableTools(figure, page.source, fail);
  }
  const nav = main.querySelector<HTMLElement>(".ks-nav");
  const saved = new Cell(notes.value);
  if (nav) addActions(nav, actions(page, { notes, saved, hash, mounted }), fail);
  addEventListener("beforeunload", (event) => {
    if (notes.value !== saved.value) event.preventDefault();
  });
  keepDropsAway(tell);
}

/** Traces as a page carries them. */
const pageTraces = (traces: TakenAway): readonly PageTrace[] =>
  traces
    .query("overview", {})
    .parts.map(({ part, rank, name }) => ({ base64: toBase64(traces.snapshot(part)), rank, name }));

/** A page of these traces. */
function savePage(file: PageFile, { traces, title, facts, notes, setup }: PageCopy): void {
  const body = traces.query("report", { title, facts }).html;
  const view = { hash: formatHash({ view: null, range: null, part: null, event: null, setup }), notes };
  download(`${fileName(title)}.html`, file.write(title, body, pageTraces(traces), view), "text/html");
}

/** What a timeline tells the page around it through. */
interface Around {
  readonly notes: Cell<readonly Note[]>;
  readonly hash: HashFollower;
  readonly onDrawn: () => void;
}

function mount(
  place: HTMLElement,
  { file, source }: Page,
  overview: Overview,
  { notes, hash, onDrawn }: Around,
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
    onSelect: (id) => hash.tell({ event: id }),
    onRange: (range, part) => hash.tell({ range, part: overview.parts.length > 1 ? part : null }),
    onNotes: (all) => notes.set(all),
    onDrawn,
  });
  // The style sheet has the least and the most: room for the details, and for the page around.
  place.style.height = `${mounted.naturalHeight}px`;
  // The picture drawn without scripts has done its work, but on paper.
  const paper = document.createElement("div");
  paper.className = "ks-on-paper";
  paper.append(...picture);
  place.after(paper);
  return mounted;
}

// Of a range that is linked to: its ends are seen to be there.
const MARGIN = 0.03;

function show(mounted: MountedTimeline, source: WasmSource, { view, range, part, event }: Target): void {
  if (range) {
    const margin = MARGIN * (range.end - range.start);
    mounted.show(range.start - margin, range.end + margin);
    mounted.mark(range.start, range.end, part);
  }
  if (event !== null) goTo(mounted, source, event);
  if (view) mounted.show(view.start, view.end);
}

function goTo(mounted: MountedTimeline, source: WasmSource, event: EventId): void {
  if (has(source, event)) mounted.go(event);
  // A page that was made smaller has fewer events than its tables are about.
  else fail(new Error(`event ${event} is not in this page: it was left out, or there never was one`));
}

function has(source: WasmSource, id: EventId): boolean {
  try {
    source.query("event", { id });
    return true;
  } catch {
    return false;
  }
}

/** What a reader did, and what of it was saved. */
interface Reading {
  readonly notes: Cell<readonly Note[]>;
  readonly saved: Cell<readonly Note[]>;
  readonly hash: HashFollower;
  readonly mounted: MountedTimeline;
}

function actions({ file, body, source, traces }: Page, reading: Reading): readonly Action[] {
  const { notes, saved, hash, mounted } = reading;
  const here = () => formatHash({ ...hash.target, view: mounted.view });
  const name = fileName(document.title);
  const saveTrace = () => void saveTraces(source, name).catch(fail);
  return [
    {
      label: "Copy link",
      title: "Copy the address of this page, opening where you are now",
      run: () => {
        copyText(location.href.replace(/#.*$/s, "") + here(), document.body);
        return "copied";
      },
    },
    {
      label: "Save a copy",
      title: "This page with your notes, opening where you are now",
      run: () => {
        const view = { hash: here(), notes: notes.value };
        download(`${name}.html`, file.write(document.title, body, traces(), view), "text/html");
        saved.set(notes.value);
        return undefined;
      },
    },
    {
      label: "Save the trace",
      title: "The trace as Chrome's JSON, which other viewers read",
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
        return "saved: drop it onto ui.perfetto.dev, which takes nothing from a page on disk";
      },
    },
  ];
}

/** The page stays readable; what is missing is said above the timeline. */
function fail(error: unknown): void {
  const place = document.getElementById("ks-timeline");
  const what = place?.classList.contains("ks-live") ? "This did not work" : "The timeline cannot be shown here";
  tell(`${what}: ${messageOf(error)}`);
}

/** Says something above the timeline, in place of what was said there. */
function tell(text: string): void {
  const note = document.createElement("p");
  note.className = "ks-note ks-error-note";
  note.setAttribute("role", "alert");
  note.textContent = text;
  for (const earlier of document.querySelectorAll(".ks-error-note")) earlier.remove();
  document.getElementById("ks-timeline")?.before(note);
}

if (main) start(main);
