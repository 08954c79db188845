import type { JSX } from "preact";

const KEY_STEP = 16;

interface Props {
  readonly label: string;
  /** Whether it lies between what is beside each other, or what is above each other. */
  readonly isUpright: boolean;
  /** How much it gives to what it is the edge of, for readers who hear it. */
  readonly value: number;
  /** Told where it should be, in CSS pixels from the left or from the bottom of the whole. */
  readonly put: (place: number, whole: number) => void;
}

/** An edge that can be moved, by the mouse or the arrow keys. */
export function Sash({ label, isUpright, value, put }: Props): JSX.Element {
  const move = (sash: HTMLElement, x: number, y: number) => {
    const whole = sash.closest(".ks-root")?.getBoundingClientRect();
    if (!whole) return;
    if (isUpright) put(x - whole.left, whole.width);
    else put(whole.bottom - y, whole.height);
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
    // biome-ignore lint/a11y/useSemanticElements: a separator that moves is a widget, which <hr> is not
    <div
      class={isUpright ? "ks-sash ks-upright" : "ks-sash"}
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
