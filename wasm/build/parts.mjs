// Which functions of the compiled core a page needs at once, and which when something else is asked for.

/**
 * What comes after the first part, which loads snapshots and answers what a timeline draws: the modules of the core's crate that
 * each begins with, and the exports that nothing else needs.
 */
export const LATER = [
  {
    name: "analyses",
    modules: ["analysis", "change", "counter", "finding", "gap", "path", "series", "summary"].map(inView),
    exports: [],
  },
  {
    name: "sharing",
    modules: ["copy", "picture", "report"].map(inView),
    exports: ["session_chrome", "session_copy", "session_snapshot"],
  },
  // A browser puts small functions into those that call them, but not across modules: so it has copies of what it calls.
  { name: "reader", modules: ["read"], exports: ["session_read", "recordingsOf"], hasCopies: true },
];
// Traces come as snapshots.
const NEEDED_FIRST = ["read::snapshot"];
// What of these can be called through the table may be needed late; all else may be needed at first.
const MAYBE_LATE = ["analyze", "edit", "read", "table", "write", ...LATER.flatMap(({ modules }) => modules)];

const FIRST = 0;
const ANALYSES = 1;
const PARTS = [FIRST, ...LATER.map((_, at) => at + 1)];

/**
 * The part of each function: 0 is the first, 1 the first of `LATER`. `calls` maps a function to those that it calls; those in
 * `pointed` can be called through the table.
 *
 * What the first part reaches without entering another is its own, and so on. Nobody can tell who calls through the table; but
 * names hold the types that a function was made for, so it is where the modules of all of these are.
 */
export function partOf({ functions, exported, pointed, calls }) {
  const about = new Map(functions.map((name) => [name, modulesOf(name)]));
  const begins = new Map(functions.map((name) => [name, beginOf(name, ownModule(name, about))]));
  const direct = functions.filter((name) => !pointed.has(name));
  const begin = (part) => (part === FIRST ? exported : direct).filter((name) => begins.get(name) === part);
  const called = reached({ begins, calls }, begin);
  const places = placesOf(direct, called, about);
  // What no function calls by name is reached through tables of analyses.
  const placeOf = (module) => (isUnder(module, MAYBE_LATE) ? (places.get(module) ?? ANALYSES) : FIRST);
  const latest = (name) => Math.max(FIRST, ...(about.get(name) ?? []).map(placeOf));
  const at = new Map([...pointed].map((name) => [name, latest(name)]));
  const parts = reached({ begins, calls }, (part) => [
    ...begin(part),
    ...[...pointed].filter((name) => at.get(name) === part),
  ]);
  for (const name of functions) if (!parts.has(name)) parts.set(name, ANALYSES);
  return parts;
}

/** The first part that reaches each function from its roots. */
function reached({ begins, calls }, rootsOf) {
  const parts = new Map();
  for (const part of PARTS) {
    const open = rootsOf(part);
    while (open.length > 0) {
      const name = open.pop();
      const begin = begins.get(name);
      // What is no function of ours is lent by the page.
      if (begin === undefined || parts.has(name) || (part === FIRST && begin > FIRST)) continue;
      parts.set(name, part);
      open.push(...(calls.get(name) ?? []));
    }
  }
  return parts;
}

/** The first part that a function of each module is in. */
function placesOf(functions, parts, about) {
  const places = new Map();
  for (const name of functions) {
    const part = parts.get(name);
    const module = ownModule(name, about);
    if (part !== undefined && module !== undefined) places.set(module, Math.min(part, places.get(module) ?? part));
  }
  return places;
}

/** The modules of the core's crate that a function's name mentions, as `view::report`. */
function modulesOf(name) {
  const plain = name.replace(/\[[0-9a-f]{16}\]/g, "");
  const mentioned = plain.matchAll(/\bkinetoscope::(\w+)(?:::(\w+))?/g);
  return [...mentioned].map(([, outer, inner]) => `${outer}::${inner ?? ""}`);
}

/** The one that a function stands in; none of what another crate made for types of the core. */
const ownModule = (name, about) => (/^<*kinetoscope\[/.test(name) ? about.get(name)[0] : undefined);

/** The part that a function begins. */
function beginOf(name, module) {
  const isTheirs = module !== undefined && !isUnder(module, NEEDED_FIRST);
  const begins = ({ modules, exports }) =>
    exports.some((begin) => name.startsWith(begin)) || (isTheirs && isUnder(module, modules));
  return LATER.findIndex(begins) + 1;
}

const isUnder = (module, outers) => outers.some((outer) => module === outer || module.startsWith(`${outer}::`));

function inView(noun) {
  return `view::${noun}`;
}
