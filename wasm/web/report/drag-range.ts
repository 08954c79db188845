/** The sides of the plot in a chart, in its own units. */
interface Plot {
  readonly left: number;
  readonly right: number;
}

/** Reports a range that is dragged over the chart in an element, as shares of its plot. */
export function dragRange(element: HTMLElement, take: (from: number, to: number) => void): void {
  const { left, right } = element.dataset;
  const plot: Plot = { left: Number(left), right: Number(right) };
  element.addEventListener("pointerdown", (event) => {
    const svg = (event.target as Element).closest("svg");
    if (!svg || event.button !== 0) return;
    event.preventDefault();
    const from = shareAt(svg, plot, event);
    const shade = shadeOver(element);
    const move = (at: PointerEvent) => shade.cover(svg, plot, from, shareAt(svg, plot, at));
    const done = new AbortController();
    addEventListener("pointermove", move, { signal: done.signal });
    addEventListener("pointercancel", () => end(), { signal: done.signal });
    const end = () => {
      done.abort();
      shade.remove();
    };
    addEventListener(
      "pointerup",
      (at) => {
        end();
        const to = shareAt(svg, plot, at);
        if (Math.abs(to - from) > SMALLEST) take(Math.min(from, to), Math.max(from, to));
      },
      { signal: done.signal },
    );
  });
}

/** A shorter drag is a click. */
const SMALLEST = 0.005;

function shareAt(svg: SVGSVGElement, { left, right }: Plot, event: PointerEvent): number {
  const matrix = svg.getScreenCTM();
  const x = matrix ? new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse()).x : left;
  return Math.min(Math.max((x - left) / (right - left), 0), 1);
}

function shadeOver(element: HTMLElement) {
  const shade = document.createElement("div");
  shade.className = "ks-shade";
  element.append(shade);
  return {
    cover(svg: SVGSVGElement, { left, right }: Plot, from: number, to: number) {
      const matrix = svg.getScreenCTM();
      const box = element.getBoundingClientRect();
      if (!matrix) return;
      const at = (share: number) => new DOMPoint(left + share * (right - left), 0).matrixTransform(matrix).x - box.left;
      shade.style.left = `${at(Math.min(from, to))}px`;
      shade.style.width = `${Math.abs(at(to) - at(from))}px`;
    },
    remove: () => shade.remove(),
  };
}
