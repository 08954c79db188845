import type { MemoryAsk, MemorySource } from "../source/memory";
import { dragRange } from "./drag-range";
import { dressTables } from "./tables";

/** A part of the page that is replaced by answers. */
class Fragment<T extends keyof MemoryAsk> {
  readonly element: HTMLElement;
  readonly #type: T;
  readonly #memory: MemorySource;

  constructor(element: HTMLElement, type: T, memory: MemorySource) {
    this.element = element;
    this.#type = type;
    this.#memory = memory;
  }

  show(ask: MemoryAsk[T]): void {
    const focused = this.element.contains(document.activeElement);
    this.element.innerHTML = this.#memory.query(this.#type, ask);
    dressTables(this.element);
    if (focused) this.element.querySelector<HTMLElement>("[tabindex]")?.focus();
  }
}

/** Lets the reader zoom, choose a moment and search in the page of a memory snapshot. */
export function followMemory(main: HTMLElement, memory: MemorySource, fail: (error: unknown) => void): void {
  const fragment = <T extends keyof MemoryAsk>(type: T): Fragment<T> | undefined => {
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

function button(bar: HTMLElement, text: string, run: () => void): HTMLButtonElement {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.addEventListener("click", run);
  bar.append(made);
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
  hint.textContent = "Drag over the picture to zoom in";
  bar.append(hint);
  dragRange(bands.element, (from, to) => {
    const at = (share: number) => start + share * (end - start);
    show(at(from), at(to));
  });
}

/** Returns what shows the state after an action. */
function followState(state: Fragment<"state">, attempt: Attempt): (row: number) => void {
  const { at, actions } = state.element.dataset;
  const bar = toolbar(state.element, "Moment");
  const said = state.element.parentElement?.querySelector("h2 small");
  const show = (moment: string, words: string) =>
    attempt(() => {
      state.show({ at: moment });
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
    if (!go) return;
    for (const row of events.element.querySelectorAll<HTMLElement>("tr[data-row]")) {
      const cell = row.firstElementChild;
      const { row: number } = row.dataset;
      if (!cell) continue;
      const at = document.createElement("button");
      at.type = "button";
      at.className = "ks-moment";
      at.title = "Show the memory after this action";
      at.append(...cell.childNodes);
      at.addEventListener("click", () => {
        go(Number(number));
        document.getElementById("state")?.scrollIntoView({ block: "start" });
      });
      cell.append(at);
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
