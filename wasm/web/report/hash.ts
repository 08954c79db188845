import { type Span, span } from "../base/time";
import type { Align, EventId, Setup } from "../source/protocol";

/**
 * What a link into a report points at: `#range=1200-5600&event=42`, times in ns since the trace's start. How the traces lie on the
 * screen, where that is not as they come: `align=start`, `align=iteration-3`, `frames=hidden`.
 */
export interface Target {
  readonly range: Span | null;
  readonly event: EventId | null;
  readonly setup: Setup;
}

export function parseHash(hash: string): Target {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const range = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(fields.get("range") ?? "");
  const event = /^\d+$/.exec(fields.get("event") ?? "");
  return {
    range: range ? span(Number(range[1]), Number(range[2])) : null,
    event: event ? Number(event[0]) : null,
    setup: { align: alignOf(fields.get("align") ?? ""), frames: fields.get("frames") === "hidden" ? false : undefined },
  };
}

function alignOf(text: string): Align | undefined {
  const iteration = /^iteration-(\d+)$/.exec(text);
  if (iteration) return { iteration: Number(iteration[1]) };
  return (["clocks", "recorded", "start"] as const).find((align) => align === text);
}

const textOf = (align: Align): string => (typeof align === "string" ? align : `iteration-${align.iteration}`);

export function formatHash({ range, event, setup }: Target): string {
  const fields = [
    range && `range=${Math.round(Math.max(0, range.start))}-${Math.round(range.end)}`,
    event !== null && `event=${event}`,
    setup.align !== undefined && `align=${textOf(setup.align)}`,
    setup.frames === false && "frames=hidden",
  ].filter(Boolean);
  return fields.length > 0 ? `#${fields.join("&")}` : "";
}

/** Whether an address says where to be; others lead to a part of the page, and change nothing on the timeline. */
const speaks = (hash: string): boolean => hash.length <= 1 || /^#(range|event|align|frames)=/.test(hash);

export interface HashFollower {
  /** What the address says. */
  readonly target: Target;
  /** Writes what changed into the address. */
  tell(change: Partial<Target>): void;
  /** Calls `use` with what the address says now and whenever the reader changes it. */
  listen(use: (target: Target) => void): void;
}

/** Follows the address; without one that says anything, it begins with what a saved page says. */
export function followHash(saved = ""): HashFollower {
  let now = parseHash(location.hash.length > 1 && speaks(location.hash) ? location.hash : saved);
  return {
    get target() {
      return now;
    },
    tell: (change) => {
      now = { ...now, ...change };
      const { pathname, search } = location;
      // A page in a frame without an address of its own cannot have one written.
      if (location.protocol !== "about:") history.replaceState(null, "", formatHash(now) || `${pathname}${search}`);
    },
    listen: (use) => {
      addEventListener("hashchange", () => {
        if (!speaks(location.hash)) return;
        now = parseHash(location.hash);
        use(now);
      });
      use(now);
    },
  };
}
