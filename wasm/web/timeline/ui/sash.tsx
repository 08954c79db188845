import type { JSX } from "preact";

const KEY_STEP = 16;

interface Props {
  readonly label: string;
  /** The edge of the timeline that the adjusted area is at. */
  readonly edge: "left" | "right" | "bottom";
  /** Size of the adjusted area in percent, for screen readers. */
  readonly value: number;
  /** Receives the new position, in CSS pixels from the edge, and the whole length. */
  readonly put: (place: number, whole: number) => void;
}

/** A separator that the mouse or the arrow keys move. */
export function Sash({ label, edge, value, put }: Props): JSX.Element {
  const isUpright = edge !== "bottom";
  const move = (sash: HTMLElement, x: number, y: number) => {
    const whole = sash.closest(".ks-root")?.getBoundingClientRect();
    if (!whole) return;
    if (edge === "bottom") put(whole.bottom - y, whole.height);
    else put(edge === "left" ? x - whole.left : whole.right - x, whole.width);
  };
  const onPointerMove = (event: PointerEvent) => {
    const sash = event.currentTarget as HTMLElement;
    if (sash.hasPointerCapture(event.pointerId)) move(sash, event.clientX, event.clientY);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const [back, on] = isUpright ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
    if (event.key !== back && event.key !== on) return;
    event.preventDefault();
    const sash = event.currentTarget as HTMLElement;
    const { left, top, width, height } = sash.getBoundingClientRect();
    const by = event.key === on ? KEY_STEP : -KEY_STEP;
    move(sash, left + width / 2 + (isUpright ? by : 0), top + height / 2 + (isUpright ? 0 : by));
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a movable separator is a widget, unlike <hr>
    <div
      class="ks-sash"
      data-edge={edge}
      role="separator"
      tabIndex={0}
      aria-orientation={isUpright ? "vertical" : "horizontal"}
      aria-label={label}
      aria-valuenow={Math.round(value)}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={onPointerMove}
      onKeyDown={onKeyDown}
    />
  );
}
