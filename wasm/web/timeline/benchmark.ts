import type { EventDetails, Overview } from "../source/protocol";
import { idInTrace } from "./event-id";

/** Edits after which events have other ids than in the file. */
const RENUMBERED = /^(trimmed|shrunk_)/;

/** The command that writes a benchmark of an operator; null where the file has other ids. */
export function benchmarkCommand(overview: Overview, details: EventDetails): string | null {
  const { parts, health } = overview;
  const part = parts[details.part];
  if (details.kind !== "operator" || !part?.title || health.some(({ kind }) => RENUMBERED.test(kind))) return null;
  const isMerged = parts.filter(({ title }) => title === part.title).length > 1;
  const rank = isMerged && part.rank !== null ? ` --rank ${part.rank}` : "";
  return `kinetoscope bench ${quoted(part.title)} --event ${idInTrace(overview, details)}${rank}`;
}

/** A word of a shell. */
const quoted = (word: string): string => (/^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
