/** Commands of the timeline. */
export type Command =
  | "zoomIn"
  | "zoomOut"
  | "panLeft"
  | "panRight"
  | "scrollUp"
  | "scrollDown"
  | "fitAll"
  | "focus"
  | "next"
  | "previous"
  | "parent"
  | "child"
  | "followForward"
  | "followBack"
  | "chooseForward"
  | "chooseBack"
  | "markAll"
  | "markSelection"
  | "saveCopy"
  | "toggleFrames"
  | "commands"
  | "measure"
  | "keepMark"
  | "takeNote"
  | "removeNote"
  | "explainIdle"
  | "toggleDetails"
  | "search"
  | "listHits"
  | "filterTracks"
  | "nextHit"
  | "previousHit"
  | "toggleColors"
  | "togglePath"
  | "toggleFlame"
  | "toggleCounters"
  | "nextFinding"
  | "previousFinding"
  | "toggleTraces"
  | "togglePin"
  | "foldAll"
  | "unfoldAll"
  | "toggleFullScreen"
  | "help"
  | "clear";

export interface Binding {
  readonly keys: readonly string[];
  readonly command: Command;
  readonly text: string;
  /** Repeats while the key is held. */
  readonly held?: boolean;
}

// Letters are the same as Perfetto's.
export const BINDINGS: readonly Binding[] = [
  { keys: ["w", "+", "="], command: "zoomIn", text: "Zoom in", held: true },
  { keys: ["s", "-"], command: "zoomOut", text: "Zoom out", held: true },
  { keys: ["a", "ArrowLeft"], command: "panLeft", text: "Move left", held: true },
  { keys: ["d", "ArrowRight"], command: "panRight", text: "Move right", held: true },
  { keys: ["ArrowUp"], command: "scrollUp", text: "Scroll the tracks up", held: true },
  { keys: ["ArrowDown"], command: "scrollDown", text: "Scroll the tracks down", held: true },
  { keys: ["f"], command: "focus", text: "Go to the selected event; press again to zoom to it" },
  { keys: ["0", "Home"], command: "fitAll", text: "Show the whole trace" },
  { keys: ["."], command: "next", text: "Next event on the lane" },
  { keys: [","], command: "previous", text: "Previous event on the lane" },
  { keys: ["p"], command: "parent", text: "Enclosing event" },
  { keys: ["c"], command: "child", text: "First event inside" },
  { keys: ["]"], command: "followForward", text: "Follow the arrow: launch → kernel" },
  { keys: ["["], command: "followBack", text: "Follow the arrow back: kernel → launch" },
  { keys: ["Mod+]"], command: "chooseForward", text: "Choose the next outgoing arrow" },
  { keys: ["Mod+["], command: "chooseBack", text: "Choose the next incoming arrow" },
  { keys: ["m"], command: "measure", text: "Measure the selection temporarily" },
  { keys: ["Shift+M"], command: "keepMark", text: "Mark the selection permanently" },
  { keys: ["n"], command: "takeNote", text: "Add a note to the selection, or to the time at the pointer" },
  { keys: ["Delete"], command: "removeNote", text: "Remove the current note" },
  { keys: ["r"], command: "markSelection", text: "Summarize the time of the selected event or idle time" },
  { keys: ["Mod+A"], command: "markAll", text: "Summarize the whole trace" },
  { keys: [], command: "saveCopy", text: "Save a copy of the marked range" },
  { keys: ["i"], command: "explainIdle", text: "Explain the idle time before the selected event" },
  { keys: ["q"], command: "toggleDetails", text: "Show or hide the details" },
  { keys: ["/"], command: "search", text: "Search event names" },
  { keys: ["Enter"], command: "nextHit", text: "Next hit" },
  { keys: ["Shift+Enter"], command: "previousHit", text: "Previous hit" },
  { keys: ["l"], command: "listHits", text: "List the hits in a table, with their total" },
  { keys: ["Mod+P"], command: "filterTracks", text: "Filter tracks by name" },
  { keys: ["x"], command: "toggleColors", text: "Colour by kind, name, operator or module" },
  { keys: ["y"], command: "toggleFrames", text: "Show or hide Python functions" },
  { keys: ["k"], command: "togglePath", text: "Show or hide the critical path" },
  { keys: ["e"], command: "toggleFlame", text: "Show the flame graph of the marked range, or of everything" },
  { keys: ["v"], command: "toggleCounters", text: "Show or hide counters: memory, queues, device use" },
  { keys: ["g"], command: "nextFinding", text: "Next finding" },
  { keys: ["Shift+G"], command: "previousFinding", text: "Previous finding" },
  { keys: ["t"], command: "toggleTraces", text: "Show one row for each trace, or all its tracks" },
  { keys: ["Shift+P"], command: "togglePin", text: "Pin the track of the selection to the top, or release it" },
  { keys: ["{"], command: "foldAll", text: "Fold all tracks" },
  { keys: ["}"], command: "unfoldAll", text: "Unfold all tracks" },
  { keys: ["Shift+F"], command: "toggleFullScreen", text: "Enter or leave full screen" },
  { keys: ["Mod+Shift+P"], command: "commands", text: "Search all commands" },
  { keys: ["?"], command: "help", text: "Show this help" },
  { keys: ["Escape"], command: "clear", text: "Close or clear" },
];

export interface KeyPress {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

const BY_KEY = new Map(BINDINGS.flatMap((binding) => binding.keys.map((key) => [key, binding] as const)));

/** The binding of a key on the timeline; null leaves the key to the host. */
export function bindingOf(press: KeyPress): Binding | null {
  if (press.altKey) return null;
  const upper = press.key.length === 1 ? press.key.toUpperCase() : press.key;
  if (press.ctrlKey || press.metaKey) return BY_KEY.get(`Mod+${press.shiftKey ? "Shift+" : ""}${upper}`) ?? null;
  const shifted = press.shiftKey && BY_KEY.get(`Shift+${upper}`);
  // Caps Lock must not disable the keys.
  return shifted || (BY_KEY.get(press.key.length === 1 ? press.key.toLowerCase() : press.key) ?? null);
}

/** Whether the timeline handles the key, or must hide it from the host. */
export const isOurs = (press: KeyPress): boolean => isPlain(press) || movesRow(press) || bindingOf(press) !== null;

const movesRow = ({ key, altKey }: KeyPress): boolean => altKey && (key === "ArrowUp" || key === "ArrowDown");

/**
 * Hosts treat single keys as commands (`d d` deletes a cell in Jupyter), so none may leave the
 * widget.
 */
export function isPlain(press: KeyPress): boolean {
  return !press.ctrlKey && !press.metaKey && !press.altKey && press.key !== "Tab" && !/^F\d/.test(press.key);
}
