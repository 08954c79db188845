import type { Cell } from "../base/cell";
import type { Mailbox } from "./mailbox";
import type { Notebook, Viewer } from "./viewer";

type ViewerModule = { open(around: HTMLElement, notebook: Notebook): Promise<Viewer> };

/** A viewer that was asked for, and whether the mailbox that asked is silent. */
interface Loading {
  readonly module: Promise<ViewerModule>;
  readonly isSilent: Cell<boolean>;
}

const VIEWERS = Symbol.for("kinetoscope.viewers");

function viewersOfPage(): Map<string, Loading> {
  const page = globalThis as { [VIEWERS]?: Map<string, Loading> };
  page[VIEWERS] ??= new Map();
  return page[VIEWERS];
}

/**
 * Fetches and evaluates the viewer once per page and version. Where the widget that asked first
 * gets no answer or is closed, the next one asks.
 */
export async function viewerOf(code: string, mailbox: Mailbox): Promise<ViewerModule> {
  const viewers = viewersOfPage();
  const known = viewers.get(code) ?? request(code, mailbox);
  if (known.isSilent === mailbox.isSilent) return known.module;
  try {
    return await Promise.race([known.module, silence(known.isSilent)]);
  } catch {
    if (viewers.get(code) === known) viewers.delete(code);
    return viewerOf(code, mailbox);
  }
}

function request(code: string, mailbox: Mailbox): Loading {
  const viewers = viewersOfPage();
  const loading: Loading = { module: mailbox.get("viewer.js").then(evaluate), isSilent: mailbox.isSilent };
  viewers.set(code, loading);
  loading.module.catch(() => {
    if (viewers.get(code) === loading) viewers.delete(code);
  });
  return loading;
}

/** Rejects once a mailbox is silent. */
function silence(isSilent: Cell<boolean>): Promise<never> {
  return new Promise((_, reject) => {
    const check = () => {
      if (!isSilent.value) return;
      stop();
      reject(new Error("Python does not answer"));
    };
    const stop = isSilent.subscribe(check);
    check();
  });
}

async function evaluate(code: Uint8Array<ArrayBuffer>): Promise<ViewerModule> {
  const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  try {
    return await import(url);
  } finally {
    URL.revokeObjectURL(url);
  }
}
