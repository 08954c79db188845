import type { MemoryAsk, MemoryPartName, MemorySource } from "../source/memory";
import { dragRange } from "./drag-range";
import { dressTables } from "./tables";

/** A part of the page that is replaced by answers. */
class Fragment<T extends MemoryPartName> {
  readonly element: HTMLElement;
  readonly memory: MemorySource;
  readonly #type: T;

  constructor(element: HTMLElement, type: T, memory: MemorySource) {
    this.element = element;
    this.#type = type;
    this.memory = memory;
  }

  /** Returns the row of the moment, where the part has one. */
  show(ask: MemoryAsk[T]): number | null | undefined {
    const focused = this.element.contains(document.activeElement);
    const { html, row } = this.memory.query(this.#type, ask);
    this.element.innerHTML = html;
    dressTables(this.element);
    if (focused) this.element.querySelector<HTMLElement>("[tabindex]")?.focus();
    return row;
  }
}

/** Lets the reader zoom, choose a moment and search in the page of a memory snapshot. */
export function followMemory(main: HTMLElement, memory: MemorySource, fail: (error: unknown) => void): void {
  const fragment = <T extends MemoryPartName>(type: T): Fragment<T> | undefined => {
    const element = main.querySelector<HTMLElement>(`[data-fragment="${type}"]`);
    return element ? new Fragment(element, type, memory) : undefined;
  };
  const attempt = (action: () => void) => {
    try {
      action();
    } catch (error) {
      fail(error);
    }
  };
  const [bands, state, events] = [fragment("bands"), fragment("state"), fragment("events")];
  if (bands) followBands(bands, attempt);
  const go = state && followState(state, attempt);
  if (events) followEvents(events, attempt, go);
}

type Attempt = (action: () => void) => void;

function toolbar(before: HTMLElement, label: string): HTMLElement {
  const bar = document.createElement("div");
  bar.className = "ks-controls";
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", label);
  before.before(bar);
  return bar;
}

function button(bar: Element, text: string, run: () => void): HTMLButtonElement {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.addEventListener("click", run);
  bar.append(made);
  return made;
}

/** Texts of the file below each other. */
function lines(name: string, texts: readonly string[] = []): HTMLElement {
  const made = document.createElement("pre");
  made.className = name;
  made.textContent = texts.join("\n");
  // It may scroll.
  made.tabIndex = 0;
  return made;
}

/** Zooms by half, and moves by half of what is shown. */
const HALF = 0.5;

function followBands(bands: Fragment<"bands">, attempt: Attempt): void {
  const { actions, time } = bands.element.dataset;
  const lengths = { actions: Number(actions), time: Number(time) };
  if (!(lengths.actions > 1)) return;
  let axis: "actions" | "time" = "actions";
  let [start, end] = [0, lengths.actions];
  const show = (from: number, to: number) =>
    attempt(() => {
      const wide = Math.min(Math.max(to - from, 1), lengths[axis]);
      const first = Math.min(Math.max(from, 0), lengths[axis] - wide);
      bands.show({ axis, start: first, end: first + wide });
      [start, end] = [first, first + wide];
    });
  const scale = (factor: number) => {
    const [middle, half] = [(start + end) / 2, ((end - start) / 2) * factor];
    show(middle - half, middle + half);
  };
  const move = (share: number) => show(start + share * (end - start), end + share * (end - start));
  const bar = toolbar(bands.element, "Range");
  button(bar, "Zoom in", () => scale(HALF));
  button(bar, "Zoom out", () => scale(1 / HALF));
  button(bar, "Earlier", () => move(-HALF));
  button(bar, "Later", () => move(HALF));
  button(bar, "All", () => show(0, lengths[axis]));
  const other = button(bar, "By time", () => {
    axis = axis === "time" ? "actions" : "time";
    other.textContent = axis === "time" ? "By action" : "By time";
    show(0, lengths[axis]);
  });
  const hint = document.createElement("span");
  hint.className = "ks-note";
  hint.textContent = "Drag to zoom in; click a band, or press → in the picture, for its stack";
  bar.append(hint);
  followBand(bands.element, (row) => bands.memory.query("band", { axis, start, end, row }).lines, attempt);
  dragRange(bands.element, (from, to) => {
    const at = (share: number) => start + share * (end - start);
    show(at(from), at(to));
  });
}

// As many lines fit beside the pointer: two of facts, then the innermost frames.
const MOST_LINES = 8;

/** Shows the allocation under the pointer, and keeps the one that is clicked or chosen by keys. */
function followBand(element: HTMLElement, ask: (row: number) => readonly string[], attempt: Attempt): void {
  const [kept, tip] = [lines("ks-lines"), lines("ks-lines ks-tip")];
  element.after(kept, tip);
  kept.ariaLive = "polite";
  Object.assign(element, {
    tabIndex: 0,
    role: "group",
    ariaLabel: "Allocations. → chooses the largest, then smaller ones",
  });
  const bandAt = (event: Event) => (event.target as Element).closest<SVGGraphicsElement>("rect[data-row]");
  const tell = (place: HTMLElement, band: Element, most?: number) =>
    attempt(() => {
      place.textContent = ask(Number(band.getAttribute("data-row")))
        .slice(0, most)
        .join("\n");
    });
  let over: Element | null = null;
  const hover = (event: PointerEvent) => {
    const { clientX, clientY } = event;
    // Beside the pointer, where there is more room.
    const isLow = clientY > innerHeight / 2;
    Object.assign(tip.style, {
      left: `${clientX}px`,
      top: `${clientY + (isLow ? -12 : 16)}px`,
      translate: `${(-100 * clientX) / innerWidth}% ${isLow ? -100 : 0}%`,
    });
    const band = event.buttons ? null : bandAt(event);
    if (band === over) return;
    over = band;
    tip.textContent = "";
    if (!band) return;
    // It would cover the tip.
    band.querySelector("title")?.remove();
    tell(tip, band, MOST_LINES);
  };
  element.addEventListener("pointermove", hover);
  element.addEventListener("pointerleave", hover);
  const keep = (band: Element | null | undefined) => {
    if (!band) return;
    element.querySelector(".ks-kept")?.classList.remove("ks-kept");
    band.classList.add("ks-kept");
    tell(kept, band);
  };
  element.addEventListener("click", (event) => keep(bandAt(event)));
  element.addEventListener("keydown", ({ key }) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[key];
    const area = (band: SVGGraphicsElement) => band.getBBox().width * band.getBBox().height;
    const all = [...element.querySelectorAll<SVGGraphicsElement>("rect[data-row]")].sort((a, b) => area(b) - area(a));
    if (by) keep(all[all.findIndex((band) => band.classList.contains("ks-kept")) + by]);
  });
}

/** Returns what shows the state after an action. */
function followState(state: Fragment<"state">, attempt: Attempt): (row: number) => void {
  const { at, actions } = state.element.dataset;
  const bar = toolbar(state.element, "Moment");
  const said = state.element.parentElement?.querySelector("h2 small");
  const show = (moment: string, words: string) =>
    attempt(() => {
      slider.value = String(state.show({ at: moment }) ?? slider.value);
      if (said) said.textContent = words;
    });
  const last = Number(actions) - 1;
  const slider = document.createElement("input");
  const go = (row: number) => {
    slider.value = String(row);
    show(String(row), `after action ${row}`);
  };
  const name = (moment: string, text: string, words: string) => button(bar, text, () => show(moment, words));
  if (at === "oom") name("oom", "Failure", "when the last allocation failed");
  name("peak", "Peak", "at the peak of each device");
  name("end", "End", "at the end");
  if (last < 0) return go;
  const label = document.createElement("label");
  label.textContent = "after action ";
  Object.assign(slider, { type: "range", min: "0", max: String(last), value: String(last) });
  let isAsked = false;
  slider.addEventListener("input", () => {
    // An answer may take longer than a move of the slider.
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      go(Number(slider.value));
    });
  });
  label.append(slider);
  bar.append(label);
  return go;
}

const PAUSE_MS = 150;

function followEvents(events: Fragment<"events">, attempt: Attempt, go: ((row: number) => void) | undefined): void {
  let text = "";
  const told = (name: "first" | "next" | "count") =>
    Number(events.element.querySelector<HTMLElement>("[data-count]")?.dataset[name] ?? 0);
  const link = () => {
    for (const row of events.element.querySelectorAll<HTMLElement>("tr[data-row]")) {
      const { firstElementChild: cell, lastElementChild: origin } = row;
      if (!cell || !origin) continue;
      const number = Number(row.getAttribute("data-row"));
      const small = (title: string, content: readonly Node[], run: () => void) => {
        const made = button(cell, "", run);
        made.append(...content);
        return Object.assign(made, { className: "ks-moment", title });
      };
      if (go) {
        small("Show the memory after this action", [...cell.childNodes], () => {
          go(number);
          document.getElementById("state")?.scrollIntoView({ block: "start" });
        });
      }
      const stack = small("Stack", [], () =>
        attempt(() => {
          const open = origin.querySelector("pre");
          stack.ariaExpanded = String(!open);
          if (open) open.remove();
          else origin.append(lines("ks-lines", events.memory.query("stack", { row: number }).lines));
        }),
      );
      Object.assign(stack, { ariaExpanded: "false", ariaLabel: "Stack" });
    }
  };
  const bar = toolbar(events.element, "Search");
  const input = document.createElement("input");
  Object.assign(input, { type: "search", placeholder: "Search actions, functions, files, addresses" });
  input.setAttribute("aria-label", input.placeholder);
  bar.append(input);
  let size = told("next");
  const show = (first: number) =>
    attempt(() => {
      events.show({ text, first });
      link();
      size = Math.max(size, told("next") - told("first"));
      earlier.disabled = told("first") === 0;
      later.disabled = told("next") >= told("count");
    });
  const earlier = button(bar, "Earlier", () => show(Math.max(0, told("first") - size)));
  const later = button(bar, "Later", () => show(told("next")));
  earlier.disabled = true;
  later.disabled = told("next") >= told("count");
  let timer = 0;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      text = input.value;
      show(0);
    }, PAUSE_MS);
  });
  link();
}
