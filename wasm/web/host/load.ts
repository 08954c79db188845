import type { Mailbox } from "./mailbox";
import type { Notebook, Viewer } from "./viewer";

type ViewerModule = { open(around: HTMLElement, notebook: Notebook): Promise<Viewer> };

const VIEWERS = Symbol.for("kinetoscope.viewers");

function viewersOfPage(): Map<string, Promise<ViewerModule>> {
  const page = globalThis as { [VIEWERS]?: Map<string, Promise<ViewerModule>> };
  page[VIEWERS] ??= new Map();
  return page[VIEWERS];
}

/** Fetches and evaluates the viewer once per page and version. */
export function viewerOf(code: string, mailbox: Mailbox): Promise<ViewerModule> {
  const known = viewersOfPage().get(code);
  if (known !== undefined) return known;
  const module = mailbox.get("viewer.js").then(evaluate);
  viewersOfPage().set(code, module);
  module.catch(() => viewersOfPage().delete(code));
  return module;
}

async function evaluate(code: Uint8Array<ArrayBuffer>): Promise<ViewerModule> {
  const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  try {
    return await import(url);
  } finally {
    URL.revokeObjectURL(url);
  }
}
