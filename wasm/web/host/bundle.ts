/**
 * The script of notebooks and of pages, which share the timeline. The widget imports it and calls
 * `open`. A page's own script says that it is a page (see `unpack.ts`).
 */
import { startPage } from "./page";
import { isPage } from "./page-mark";
import { open as openInNotebook } from "./viewer";

export const open = openInNotebook;

const main = document.querySelector("main");
if (isPage() && main) startPage(main);
