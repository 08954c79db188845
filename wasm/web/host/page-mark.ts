const PAGE = Symbol.for("kinetoscope.page");

/** Says that this document is a page of Kinetoscope. */
export function markPage(): void {
  (globalThis as { [PAGE]?: boolean })[PAGE] = true;
}

/** Whether the document was marked. */
export const isPage = (): boolean => (globalThis as { [PAGE]?: boolean })[PAGE] === true;
