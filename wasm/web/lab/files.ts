import { fromBase64 } from "../base/bytes";
import { noRoom } from "../base/room";
import { messageOf } from "../source/source";
import type { ContentsManager, ContentsModel } from "./host";

/**
 * The paths of a recording by the path of one of its files, the Kineto trace first: `ks.read` finds
 * the Execution Trace beside it.
 */
export async function recordingAt(contents: ContentsManager, path: string): Promise<readonly string[]> {
  const name = baseName(path);
  for (const [prefix, other] of Object.entries(PREFIXES)) {
    if (!name.startsWith(prefix)) continue;
    const wanted = `${other}${stem(name).slice(prefix.length)}`;
    const { content } = await contents.get(folderOf(path), { content: true });
    const partner = (content as readonly ContentsModel[]).find((found) => stem(found.name) === wanted);
    if (partner) return prefix === "torch_et_" ? [partner.path, path] : [path, partner.path];
  }
  return [path];
}

const PREFIXES = { kineto_trace_: "torch_et_", torch_et_: "kineto_trace_" } as const;

/** A browser gives no larger piece of memory to a page. */
const MOST_BYTES = 2 ** 31 - 1;

/** Fetches the file at a path of the server. Rejects with a sentence for the reader. */
export async function fetchFile(contents: ContentsManager, path: string, say: (text: string) => void): Promise<File> {
  const { name, size } = await factsOf(contents, path);
  if (size !== undefined && size > MOST_BYTES) {
    throw new Error(
      `${name}: expected at most 2 GB in a browser, found ${size} bytes: read it with ks.read in a notebook`,
    );
  }
  say(`Loading ${name} …`);
  try {
    return new File([await download(contents, path)], name);
  } catch (error) {
    if (isAnswer(error)) throw error;
    // A server that answers now has sent the file: the browser found no place for it.
    await factsOf(contents, path);
    throw new Error(`${name}: ${noRoom(size)}`);
  }
}

async function factsOf(contents: ContentsManager, path: string): Promise<ContentsModel> {
  try {
    return await contents.get(path, { content: false });
  } catch (error) {
    if (isAnswer(error)) throw error;
    throw new Error(`${baseName(path)}: the server does not answer (${messageOf(error)}): open the file again later`);
  }
}

/** Whether the server itself refused. */
const isAnswer = (error: unknown): boolean => (error as { readonly response?: unknown }).response !== undefined;

async function download(contents: ContentsManager, path: string): Promise<BlobPart> {
  const response = await fetched(contents, path);
  if (response?.ok) return response.blob();
  const { content } = await contents.get(path, { content: true, format: "base64", type: "file" });
  return fromBase64(String(content));
}

/** The server's answer; `undefined` for a drive without addresses. */
async function fetched(contents: ContentsManager, path: string): Promise<Response | undefined> {
  try {
    // biome-ignore lint/style/noRestrictedGlobals: the file comes from the server of the notebook
    return await fetch(await contents.getDownloadUrl(path), { credentials: "same-origin" });
  } catch {
    return undefined;
  }
}

const stem = (name: string): string => name.replace(/\.json(\.gz|\.xz)?$/, "");

export const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** The folder of a path; empty at the root. */
export const folderOf = (path: string): string => path.slice(0, Math.max(path.lastIndexOf("/"), 0));
