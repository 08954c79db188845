import { type Span, span } from "../base/time";
import type { Align, EventId, Setup } from "../source/protocol";

/**
 * The fragment of a link into a report: `#view=0-9000&range=1200-5600&event=42`. Times are
 * nanoseconds since the trace's start. `gap=42` is the idle time before an event. `part=3` names
 * the trace of the range. `align=start`, `align=iteration-3` and `frames=hidden` set the screen up.
 */
export interface Target {
  /** The visible range, where it differs from the marked range. */
  readonly view: Span | null;
  readonly range: Span | null;
  /** The trace of the range. */
  readonly part: number | null;
  readonly event: EventId | null;
  /** The event that ends an idle time. */
  readonly gap: EventId | null;
  readonly setup: Setup;
}

export function parseHash(hash: string): Target {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const number = (name: string) => {
    const digits = /^\d+$/.exec(fields.get(name) ?? "");
    return digits ? Number(digits[0]) : null;
  };
  return {
    view: spanOf(fields.get("view") ?? ""),
    range: spanOf(fields.get("range") ?? ""),
    part: number("part"),
    event: number("event"),
    gap: number("gap"),
    setup: { align: alignOf(fields.get("align") ?? ""), frames: fields.get("frames") === "hidden" ? false : undefined },
  };
}

function spanOf(text: string): Span | null {
  const ends = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(text);
  return ends ? span(Number(ends[1]), Number(ends[2])) : null;
}

const spanText = ({ start, end }: Span): string => `${Math.round(Math.max(0, start))}-${Math.round(Math.max(0, end))}`;

function alignOf(text: string): Align | undefined {
  const iteration = /^iteration-(\d+)$/.exec(text);
  if (iteration) return { iteration: Number(iteration[1]) };
  return (["clocks", "recorded", "start"] as const).find((align) => align === text);
}

const textOf = (align: Align): string => (typeof align === "string" ? align : `iteration-${align.iteration}`);

export function formatHash({ view, range, part, event, gap, setup }: Target): string {
  const fields = [
    view && `view=${spanText(view)}`,
    range && `range=${spanText(range)}`,
    range && part !== null && `part=${part}`,
    event !== null && `event=${event}`,
    gap !== null && `gap=${gap}`,
    setup.align !== undefined && `align=${textOf(setup.align)}`,
    setup.frames === false && "frames=hidden",
  ].filter(Boolean);
  return fields.length > 0 ? `#${fields.join("&")}` : "";
}

/** Whether a fragment is about the timeline. Others lead to a section of the page. */
const speaks = (hash: string): boolean => hash.length <= 1 || /^#(view|range|event|gap|align|frames)=/.test(hash);

/** Whether a link leads to something in the timeline. */
export const leadsSomewhere = ({ range, event, gap }: Target): boolean =>
  range !== null || event !== null || gap !== null;

export interface HashFollower {
  /** The target in the page's address. */
  readonly target: Target;
  /** Sets the range where the address has no target. */
  begin(range: Span): void;
  /** Writes a change into the address. */
  tell(change: Partial<Target>): void;
  /** Calls `use` with the target now and after each change by the reader. */
  listen(use: (target: Target) => void): void;
}

// Changes within this time, as in a drag, become one entry of the browser's history.
const ONE_MOVE_MS = 1000;

/** Follows the page's address. Without a target there, it begins with `saved`. */
export function followHash(saved = ""): HashFollower {
  let written = performance.now();
  let now = parseHash(location.hash.length > 1 && speaks(location.hash) ? location.hash : saved);
  return {
    get target() {
      return now;
    },
    begin: (range) => {
      if (!now.view && !leadsSomewhere(now)) now = { ...now, range };
    },
    tell: (change) => {
      now = { ...now, view: null, ...change };
      const { pathname, search } = location;
      const isOne = performance.now() - written < ONE_MOVE_MS;
      written = performance.now();
      const address = formatHash(now) || `${pathname}${search}`;
      // A frame without an address of its own cannot change it.
      if (location.protocol === "about:" || address === (location.hash || `${pathname}${search}`)) return;
      if (isOne) history.replaceState(null, "", address);
      else history.pushState(null, "", address);
    },
    listen: (use) => {
      addEventListener("hashchange", () => {
        if (!speaks(location.hash)) return;
        now = parseHash(location.hash);
        written = performance.now();
        use(now);
      });
      use(now);
    },
  };
}
