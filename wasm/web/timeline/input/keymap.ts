/** What a key may do. */
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
  | "toggleDrawer"
  | "search"
  | "filterTracks"
  | "nextHit"
  | "previousHit"
  | "toggleColors"
  | "togglePath"
  | "toggleCounters"
  | "nextFinding"
  | "previousFinding"
  | "foldAll"
  | "unfoldAll"
  | "toggleFullScreen"
  | "help"
  | "clear";

export interface Binding {
  readonly keys: readonly string[];
  readonly command: Command;
  readonly text: string;
  /** Goes on while the key is held. */
  readonly held?: boolean;
}

// The letters are Perfetto's, so that hands need not learn anew.
export const BINDINGS: readonly Binding[] = [
  { keys: ["w", "+", "="], command: "zoomIn", text: "Zoom in", held: true },
  { keys: ["s", "-"], command: "zoomOut", text: "Zoom out", held: true },
  { keys: ["a", "ArrowLeft"], command: "panLeft", text: "Move left", held: true },
  { keys: ["d", "ArrowRight"], command: "panRight", text: "Move right", held: true },
  { keys: ["ArrowUp"], command: "scrollUp", text: "Scroll the tracks up", held: true },
  { keys: ["ArrowDown"], command: "scrollDown", text: "Scroll the tracks down", held: true },
  { keys: ["f"], command: "focus", text: "Go to the selected event; again: fill the screen with it" },
  { keys: ["0", "Home"], command: "fitAll", text: "Show the whole trace" },
  { keys: ["."], command: "next", text: "Next event on the lane" },
  { keys: [","], command: "previous", text: "Previous event on the lane" },
  { keys: ["p"], command: "parent", text: "The event around it" },
  { keys: ["c"], command: "child", text: "The first event inside it" },
  { keys: ["]"], command: "followForward", text: "Follow the arrow: launch → kernel" },
  { keys: ["["], command: "followBack", text: "Follow the arrow back: kernel → launch" },
  { keys: ["Mod+]"], command: "chooseForward", text: "Choose among the arrows that lead on" },
  { keys: ["Mod+["], command: "chooseBack", text: "Choose among the arrows that lead here" },
  { keys: ["m"], command: "measure", text: "Measure what is selected, until the next time" },
  { keys: ["Shift+M"], command: "keepMark", text: "Mark what is selected, to stay" },
  { keys: ["n"], command: "takeNote", text: "Write a note about it, or about the time at the pointer" },
  { keys: ["Delete"], command: "removeNote", text: "Remove the note" },
  { keys: ["r"], command: "markSelection", text: "Sum up the range of the selected event, or of the idle time" },
  { keys: ["Mod+A"], command: "markAll", text: "Sum up the whole trace" },
  { keys: [], command: "saveCopy", text: "Save a copy of the marked range" },
  { keys: ["i"], command: "explainIdle", text: "Why the stream was idle before the selected event" },
  { keys: ["q"], command: "toggleDrawer", text: "Hide or show the details" },
  { keys: ["/"], command: "search", text: "Search" },
  { keys: ["Enter"], command: "nextHit", text: "Next hit" },
  { keys: ["Shift+Enter"], command: "previousHit", text: "Previous hit" },
  { keys: ["Mod+P"], command: "filterTracks", text: "Find tracks by their names" },
  { keys: ["x"], command: "toggleColors", text: "Colours by kind, name, operator or module" },
  { keys: ["y"], command: "toggleFrames", text: "Show or hide functions of Python" },
  { keys: ["k"], command: "togglePath", text: "Show or hide the critical path" },
  { keys: ["v"], command: "toggleCounters", text: "Show or hide memory, queues and how busy devices are" },
  { keys: ["g"], command: "nextFinding", text: "Go to the next finding" },
  { keys: ["Shift+G"], command: "previousFinding", text: "Go to the finding before" },
  { keys: ["{"], command: "foldAll", text: "Fold all tracks" },
  { keys: ["}"], command: "unfoldAll", text: "Unfold all tracks" },
  { keys: ["Shift+F"], command: "toggleFullScreen", text: "Full screen, or back" },
  { keys: ["Mod+Shift+P"], command: "commands", text: "All commands, to choose one by its words" },
  { keys: ["?"], command: "help", text: "This help" },
  { keys: ["Escape"], command: "clear", text: "Close, clear" },
];

export interface KeyPress {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

const BY_KEY = new Map(BINDINGS.flatMap((binding) => binding.keys.map((key) => [key, binding] as const)));

/** What `press` means on the timeline; null leaves it to the host. */
export function bindingOf(press: KeyPress): Binding | null {
  if (press.altKey) return null;
  const upper = press.key.length === 1 ? press.key.toUpperCase() : press.key;
  if (press.ctrlKey || press.metaKey) return BY_KEY.get(`Mod+${press.shiftKey ? "Shift+" : ""}${upper}`) ?? null;
  const shifted = press.shiftKey && BY_KEY.get(`Shift+${upper}`);
  // Caps lock must not take the keys away.
  return shifted || (BY_KEY.get(press.key.length === 1 ? press.key.toLowerCase() : press.key) ?? null);
}

/** Whether a press means anything inside the timeline, or would mean something else outside of it. */
export const isOurs = (press: KeyPress): boolean => isPlain(press) || movesRow(press) || bindingOf(press) !== null;

const movesRow = ({ key, altKey }: KeyPress): boolean => altKey && (key === "ArrowUp" || key === "ArrowDown");

/** A host takes single keys as commands (`d d` deletes a cell in Jupyter): none may leave the widget. */
export function isPlain(press: KeyPress): boolean {
  return !press.ctrlKey && !press.metaKey && !press.altKey && press.key !== "Tab" && !/^F\d/.test(press.key);
}
