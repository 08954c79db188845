/**
 * The parts of JupyterLab 4 and Notebook 7 that the extension uses. Their packages are shared when
 * the page runs (see `shared.ts`): only these types are written here, because the packages
 * themselves bring some two hundred others.
 */

/** A widget of Lumino. */
export interface LabWidget {
  readonly node: HTMLElement;
  readonly isDisposed: boolean;
  readonly disposed: LabSignal<unknown>;
  id: string;
  readonly title: { label: string; icon?: unknown; closable: boolean };
}

export interface LabSignal<T> {
  connect(slot: (sender: unknown, args: T) => void): boolean;
}

/** Facts about a file of the server; `size` is missing for folders and for some drives. */
export interface ContentsModel {
  readonly name: string;
  readonly path: string;
  readonly type: string;
  readonly size?: number;
  readonly last_modified?: string;
  readonly content: unknown;
}

export interface ContentsManager {
  get(path: string, options: { content: boolean; format?: string; type?: string }): Promise<ContentsModel>;
  getDownloadUrl(path: string): Promise<string>;
  newUntitled(options: { path: string; type: string }): Promise<ContentsModel>;
  save(path: string, model: { type: string; format: string; content: unknown }): Promise<ContentsModel>;
  /** The path without the name of its drive. */
  localPath(path: string): string;
}

/** An open file. */
export interface DocumentContext {
  readonly path: string;
  readonly ready: Promise<void>;
  readonly fileChanged: LabSignal<ContentsModel>;
}

export interface DocumentWidget extends LabWidget {
  readonly context: DocumentContext;
  readonly toolbar: { addItem(name: string, item: LabWidget): boolean };
}

/** Notebooks that are open; a notebook of Notebook 7 is alone in its page. */
export interface NotebookTracker {
  readonly currentWidget: NotebookPanel | null;
}

export interface NotebookPanel {
  readonly id: string;
  readonly isDisposed: boolean;
  readonly context: DocumentContext;
  readonly content: {
    readonly activeCellIndex: number;
    readonly model: { readonly sharedModel: SharedNotebook } | null;
  };
}

export interface SharedNotebook {
  insertCell(index: number, cell: { cell_type: string; source: string }): unknown;
}

/** Opens what was open before a page was reloaded. */
export interface LayoutRestorer {
  restore(tracker: WidgetTracker, options: RestoreOptions): Promise<unknown>;
}

interface RestoreOptions {
  readonly command: string;
  readonly args: (widget: DocumentWidget) => Readonly<Record<string, string>>;
  readonly name: (widget: DocumentWidget) => string;
}

export interface WidgetTracker {
  add(widget: DocumentWidget): Promise<void>;
}

export interface LabLauncher {
  add(item: { command: string; category: string; rank: number }): unknown;
}

export interface LabPalette {
  addItem(item: { command: string; category: string }): unknown;
}

/** The tabs of Notebook's first page: files, and running kernels. */
export interface NotebookTree {
  currentWidget: LabWidget | null;
  addWidget(widget: LabWidget): void;
}

export interface LabCommand {
  readonly label: string;
  readonly caption: string;
  readonly icon: unknown;
  readonly execute: () => void;
}

export interface KernelSpecs {
  readonly default: string;
  readonly kernelspecs: Readonly<Record<string, KernelSpec | undefined>>;
}

interface KernelSpec {
  readonly name: string;
  readonly display_name: string;
  readonly language: string;
}

/** The application. */
export interface Lab {
  readonly name: string;
  readonly commands: {
    addCommand(id: string, command: LabCommand): unknown;
    execute(id: string, options: Readonly<Record<string, string>>): Promise<unknown>;
  };
  readonly docRegistry: {
    addFileType(type: object, factories?: readonly string[]): unknown;
    addModelFactory(factory: object): unknown;
    addWidgetFactory(factory: object): unknown;
  };
  readonly serviceManager: {
    readonly contents: ContentsManager;
    readonly serverSettings: { readonly baseUrl: string };
    readonly kernelspecs: { readonly specs: KernelSpecs | null };
  };
  readonly shell: {
    add(widget: LabWidget, area: string): void;
    activateById(id: string): void;
  };
}

/** Modules that JupyterLab shares, by package. */
export interface LabModules {
  readonly "@jupyterlab/docregistry": {
    readonly ABCWidgetFactory: new (options: object) => object;
    readonly Base64ModelFactory: new () => object;
    readonly DocumentWidget: new (options: object) => DocumentWidget;
  };
  readonly "@jupyterlab/ui-components": {
    readonly LabIcon: new (options: { name: string; svgstr: string }) => object;
    readonly ToolbarButton: new (options: object) => LabWidget;
  };
  readonly "@jupyterlab/application": { readonly ILayoutRestorer: object };
  readonly "@jupyterlab/apputils": {
    readonly ICommandPalette: object;
    readonly WidgetTracker: new (options: { namespace: string }) => WidgetTracker;
    readonly showErrorMessage: (title: string, error: string) => Promise<void>;
  };
  readonly "@lumino/widgets": {
    readonly Widget: new (options: { node: HTMLElement }) => LabWidget;
  };
  readonly "@jupyterlab/launcher": { readonly ILauncher: object };
  readonly "@jupyterlab/notebook": { readonly INotebookTracker: object };
  readonly "@jupyter-notebook/tree": { readonly INotebookTree: object };
}
