import { baseName, folderOf, recordingAt } from "./files";
import type { Lab, NotebookTracker } from "./host";

/** Name of the application that is not JupyterLab. */
export const NOTEBOOK = "Jupyter Notebook";

/**
 * Inserts a cell that reads the recording of a file, into the notebook that was used last, else
 * into a new one. Jupyter Notebook opens a new one in a page of its own.
 */
export async function useInNotebook(lab: Lab, tracker: NotebookTracker | undefined, shown: string): Promise<void> {
  const { contents } = lab.serviceManager;
  const [first = shown] = await recordingAt(contents, shown);
  const path = contents.localPath(first);
  const panel = tracker?.currentWidget;
  const notebook = panel && !panel.isDisposed ? panel.content.model?.sharedModel : undefined;
  if (!panel || !notebook) return openNotebook(lab, path);
  const source = readingCell(relative(folderOf(panel.context.path), path));
  notebook.insertCell(panel.content.activeCellIndex + 1, { cell_type: "code", source });
  lab.shell.activateById(panel.id);
}

async function openNotebook(lab: Lab, path: string): Promise<void> {
  const { contents, serverSettings } = lab.serviceManager;
  const made = await contents.newUntitled({ path: folderOf(path), type: "notebook" });
  const source = readingCell(baseName(path));
  const cell = { cell_type: "code", source, metadata: {}, outputs: [], execution_count: null };
  const content = { cells: [cell], metadata: { kernelspec: kernelOf(lab) }, nbformat: 4, nbformat_minor: 4 };
  await contents.save(made.path, { type: "notebook", format: "json", content });
  if (lab.name === NOTEBOOK) {
    open(`${serverSettings.baseUrl}notebooks/${made.path.split("/").map(encodeURIComponent).join("/")}`);
  } else await lab.commands.execute("docmanager:open", { path: made.path });
}

/** The server's kernel for Python, so that the reader is not asked for one. */
function kernelOf({ serviceManager }: Lab): object | undefined {
  const { specs } = serviceManager.kernelspecs;
  const all = Object.values(specs?.kernelspecs ?? {}).filter((spec) => spec?.language === "python");
  const chosen = all.find((spec) => spec?.name === specs?.default) ?? all[0];
  return chosen && { name: chosen.name, display_name: chosen.display_name, language: chosen.language };
}

/** JSON's strings are Python's, too. */
const readingCell = (path: string): string =>
  `import kinetoscope as ks\n\ntrace = ks.read(${JSON.stringify(path)})\ntrace`;

/** A path as seen from a folder: a kernel works in the folder of its notebook. */
export function relative(folder: string, path: string): string {
  const from = folder === "" ? [] : folder.split("/");
  const to = path.split("/");
  let shared = 0;
  while (shared < from.length && shared < to.length - 1 && from[shared] === to[shared]) shared++;
  return [...from.slice(shared).map(() => ".."), ...to.slice(shared)].join("/");
}
