import { formatBytes } from "./format";

/** Says that a file is too large for the browser's memory, and what helps. */
export function noRoom(bytes: number | undefined): string {
  const size = bytes === undefined ? "" : ` of ${formatBytes(bytes)}`;
  return `the browser has no memory for this file${size}: close other tabs, or read it with ks.read in a notebook`;
}
