import { fromBase64 } from "../base/bytes";
import type { ContentsManager, ContentsModel } from "./host";

/** The file at a path of the server, and the other trace of its recording that lies beside it. */
export async function withPartner(contents: ContentsManager, path: string, say: Say): Promise<readonly File[]> {
  const file = await fetchFile(contents, path, say);
  const partner = await partnerOf(contents, path);
  return partner === undefined ? [file] : [file, await fetchFile(contents, partner, say)];
}

type Say = (text: string) => void;

/** A browser gives no larger piece of memory to a page. */
const MOST_BYTES = 2 ** 31 - 1;

async function fetchFile(contents: ContentsManager, path: string, say: Say): Promise<File> {
  const { name, size } = await contents.get(path, { content: false });
  if (size !== undefined && size > MOST_BYTES) {
    throw new Error(
      `${name}: expected at most 2 GB in a browser, found ${size} bytes: read it with ks.read in a notebook`,
    );
  }
  say(`Loading ${name} …`);
  return new File([await download(contents, path)], name);
}

async function download(contents: ContentsManager, path: string): Promise<BlobPart> {
  try {
    // biome-ignore lint/style/noRestrictedGlobals: the file comes from the server of the notebook
    const response = await fetch(await contents.getDownloadUrl(path), { credentials: "same-origin" });
    if (response.ok) return await response.blob();
  } catch {
    // Some drives have no address.
  }
  const { content } = await contents.get(path, { content: true, format: "base64", type: "file" });
  return fromBase64(String(content));
}

const PREFIXES = { kineto_trace_: "torch_et_", torch_et_: "kineto_trace_" } as const;

/** The path of the other trace of a recording, as `ks.profile` names them. */
async function partnerOf(contents: ContentsManager, path: string): Promise<string | undefined> {
  const name = baseName(path);
  for (const [prefix, other] of Object.entries(PREFIXES)) {
    if (!name.startsWith(prefix)) continue;
    const wanted = `${other}${stem(name).slice(prefix.length)}`;
    const { content } = await contents.get(folderOf(path), { content: true });
    return (content as readonly ContentsModel[]).find((found) => stem(found.name) === wanted)?.path;
  }
  return undefined;
}

const stem = (name: string): string => name.replace(/\.json(\.gz|\.xz)?$/, "");

export const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** The folder of a path; empty at the root. */
export const folderOf = (path: string): string => path.slice(0, Math.max(path.lastIndexOf("/"), 0));
