import { messageOf } from "../source/source";
import { baseName, fetchFile, recordingAt } from "./files";
import { PageFrame } from "./frame";
import type {
  DocumentContext,
  DocumentWidget,
  Lab,
  LabLauncher,
  LabModules,
  LabPalette,
  LabWidget,
  LayoutRestorer,
  NotebookTracker,
  NotebookTree,
  WidgetTracker,
} from "./host";
import { NOTEBOOK, useInNotebook } from "./notebook";
import { findShared, type SharedScope, takeShared } from "./shared";

const NAME = "kinetoscope";
const OPEN = "kinetoscope:open";
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 16 16"><path class="jp-icon3" fill="#616161" ' +
  'd="M1 2h9v3H1zm11 0h3v3h-3zM3 6.5h4v3H3zm5.5 0H15v3H8.5zM1 11h5v3H1zm6.5 0H13v3H7.5z"/></svg>';

/** Files that open here by a double click. */
const FILE_TYPES = [
  {
    name: "kinetoscope-trace",
    displayName: "PyTorch trace",
    extensions: [".trace.json", ".json.gz", ".json.xz", ".kscope", ".et"],
    pattern: "^(kineto_trace|torch_et)_.*\\.json(\\.gz|\\.xz)?$",
  },
  { name: "kinetoscope-memory", displayName: "PyTorch memory snapshot", extensions: [".pickle", ".pickle.gz"] },
  {
    name: "kinetoscope-database",
    displayName: "Nsight Systems or ROCm trace",
    extensions: [".sqlite", ".rpd"],
    pattern: "_results\\.db$",
  },
  {
    name: "kinetoscope-perfetto",
    displayName: "Perfetto trace",
    extensions: [".pftrace", ".perfetto-trace"],
    pattern: "\\.pftrace\\.gz$",
  },
];

/** The plugins of the extension. `address` is that of the folder with `view.html`. */
export async function pluginsOf(scope: SharedScope, address: string): Promise<readonly object[]> {
  const registry = await takeShared(scope, "@jupyterlab/docregistry");
  const components = await takeShared(scope, "@jupyterlab/ui-components");
  const utilities = await takeShared(scope, "@jupyterlab/apputils");
  const { Widget } = await takeShared(scope, "@lumino/widgets");
  const launcher = (await findShared(scope, "@jupyterlab/launcher"))?.ILauncher;
  const notebooks = (await findShared(scope, "@jupyterlab/notebook"))?.INotebookTracker;
  const restorer = (await findShared(scope, "@jupyterlab/application"))?.ILayoutRestorer;
  const tree = (await findShared(scope, "@jupyter-notebook/tree"))?.INotebookTree;
  const palette = utilities.ICommandPalette;
  // Dependencies are handed over in their order.
  const optional = [launcher, notebooks, restorer, tree, palette].filter((token) => token !== undefined);
  const icon = new components.LabIcon({ name: `${NAME}:trace`, svgstr: ICON });
  const hostOf = (lab: Lab) => ({ lab, registry, components, utilities, Widget, icon, page: `${address}view.html` });
  const opened = new utilities.WidgetTracker({ namespace: NAME });
  let tracker: NotebookTracker | undefined;
  return [
    {
      id: `${NAME}:files`,
      description: "Opens PyTorch traces, memory snapshots, and traces of Nsight Systems, ROCm and Perfetto.",
      autoStart: true,
      // Without dependencies, so that it comes first. Each new file type reloads the settings of
      // the document manager, which fails if it uses them meanwhile: once all plugins are active.
      activate: (lab: Lab) => openFiles(hostOf(lab), opened, () => tracker),
    },
    {
      id: `${NAME}:plugin`,
      description: "Connects pages of traces with notebooks, launcher and command palette.",
      autoStart: true,
      optional,
      activate(lab: Lab, ...found: unknown[]) {
        const given = (token: object | undefined) => (token ? found[optional.indexOf(token)] : undefined);
        tracker = given(notebooks) as NotebookTracker | undefined;
        reopen(opened, given(restorer) as LayoutRestorer | undefined);
        offerEmptyPage(hostOf(lab), {
          launcher: given(launcher) as LabLauncher | undefined,
          palette: given(palette) as LabPalette | undefined,
          tree: given(tree) as NotebookTree | undefined,
        });
      },
    },
  ];
}

interface Host {
  readonly lab: Lab;
  readonly registry: LabModules["@jupyterlab/docregistry"];
  readonly components: LabModules["@jupyterlab/ui-components"];
  readonly utilities: LabModules["@jupyterlab/apputils"];
  readonly Widget: LabModules["@lumino/widgets"]["Widget"];
  readonly icon: object;
  readonly page: string;
}

/** Open notebooks, once the application has told of them. */
type FindTracker = () => NotebookTracker | undefined;

/** Opens files of the known types in a page. */
function openFiles(host: Host, opened: WidgetTracker, tracker: FindTracker): void {
  const { docRegistry } = host.lab;
  const names = FILE_TYPES.map(({ name }) => name);
  for (const type of FILE_TYPES) {
    docRegistry.addFileType({ mimeTypes: [], contentType: "file", icon: host.icon, ...type }, [NAME]);
  }
  docRegistry.addModelFactory(new (modelFactory(host))());
  const options = {
    name: NAME,
    label: "Kinetoscope",
    modelName: NAME,
    fileTypes: [...names, "json"],
    defaultFor: names,
    readOnly: true,
  };
  docRegistry.addWidgetFactory(new (widgetFactory(host, opened, tracker))(options));
}

/** Opens what was open before the host's page was reloaded. */
function reopen(opened: WidgetTracker, restorer: LayoutRestorer | undefined): void {
  const path = ({ context }: DocumentWidget) => context.path;
  const args = (widget: DocumentWidget) => ({ path: path(widget), factory: NAME });
  void restorer?.restore(opened, { command: "docmanager:open", args, name: path });
}

/** A model without content: the page reads the file by itself. */
const modelFactory = ({ registry }: Host) =>
  class extends registry.Base64ModelFactory {
    get name() {
      return NAME;
    }

    get fileFormat() {
      return null;
    }
  };

const widgetFactory = (host: Host, opened: WidgetTracker, tracker: FindTracker) =>
  class extends host.registry.ABCWidgetFactory {
    createNewWidget(context: DocumentContext): DocumentWidget {
      const made = documentOf(host, context, tracker);
      // Its id comes after this call.
      void context.ready.then(() => opened.add(made));
      return made;
    }
  };

function documentOf(host: Host, context: DocumentContext, tracker: FindTracker): DocumentWidget {
  const { lab, registry, components } = host;
  const { contents } = lab.serviceManager;
  const show = async (frame: PageFrame) => {
    try {
      await context.ready;
      const say = (text: string) => frame.tell({ type: "say", text });
      const files: File[] = [];
      for (const path of await recordingAt(contents, context.path)) files.push(await fetchFile(contents, path, say));
      frame.tell({ type: "open", files });
    } catch (error) {
      frame.tell({ type: "fail", text: messageOf(error) });
    }
  };
  const frame = new PageFrame(host.page, baseName(context.path), (ready) => void show(ready));
  const content = new host.Widget({ node: frame.node });
  content.title.icon = host.icon;
  const made = new registry.DocumentWidget({ content, context });
  const button = new components.ToolbarButton({
    label: "Use in notebook",
    tooltip: "Insert a cell that reads this file",
    onClick: () => {
      const failed = (error: unknown) =>
        host.utilities.showErrorMessage("Cannot use the file in a notebook", messageOf(error));
      useInNotebook(lab, tracker(), context.path).catch(failed);
    },
  });
  made.toolbar.addItem("use-in-notebook", button);
  let shown: string | undefined;
  context.fileChanged.connect((_, model) => {
    if (shown !== undefined && shown !== model.last_modified) frame.reload();
    shown = model.last_modified;
  });
  closeTogether(made, frame);
  return made;
}

function closeTogether(widget: LabWidget, frame: PageFrame): void {
  widget.disposed.connect(() => frame.close());
}

interface Places {
  readonly launcher: LabLauncher | undefined;
  readonly palette: LabPalette | undefined;
  /** The tabs of Notebook's file browser. */
  readonly tree: NotebookTree | undefined;
}

/** Adds a command that opens the empty page, in the launcher and the command palette. */
function offerEmptyPage({ lab, Widget, icon, page }: Host, { launcher, palette, tree }: Places): void {
  // Another page of Notebook has a place for one document alone.
  if (lab.name === NOTEBOOK && !tree) return;
  let count = 0;
  lab.commands.addCommand(OPEN, {
    label: "Open a trace",
    caption: "Read PyTorch traces of this computer",
    icon,
    execute: () => {
      const frame = new PageFrame(page, "Kinetoscope", () => undefined);
      const widget = new Widget({ node: frame.node });
      widget.id = `kinetoscope-page-${count++}`;
      Object.assign(widget.title, { label: "Kinetoscope", icon, closable: true });
      closeTogether(widget, frame);
      if (tree) {
        tree.addWidget(widget);
        tree.currentWidget = widget;
        return;
      }
      lab.shell.add(widget, "main");
      lab.shell.activateById(widget.id);
    },
  });
  launcher?.add({ command: OPEN, category: "Other", rank: 50 });
  palette?.addItem({ command: OPEN, category: "File Operations" });
}
