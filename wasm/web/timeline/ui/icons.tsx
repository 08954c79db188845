import type { JSX } from "preact";

const PATHS = {
  below: "M2.5 3h11v10h-11zM2.5 9h11",
  beside: "M2.5 3h11v10h-11zM9.500 3v10",
  bulb: "M5.5 10.5a4.2 4.2 0 1 1 5 0v1.8h-5zM6.3 14.2h3.4",
  chart: "M2 13.5h12M2 11V8h3.5V4H9v5h3V6h2",
  chevron: "M6 4l4 4-4 4",
  close: "M4 4l8 8M12 4l-8 8",
  copy: "M6 6h7v7H6zM10 6V3H3v7h3",
  device: "M4.5 4.5h7v7h-7zM6.5 2v2M9.5 2v2M6.5 12v2M9.5 12v2M2 6.5h2M2 9.5h2M12 6.5h2M12 9.5h2",
  down: "M4 6l4 4 4-4",
  flame: "M2 2.5h12v3H2zM2 5.500h8v3H2zM11.500 5.500H14v3h-2.500M2 8.500h4.500v3H2zM3 11.500h2v2",
  flag: "M4 14V2.5M4 3h8l-2.2 3L12 9H4",
  fit: "M2 5V2h3M11 2h3v3M14 11v3h-3M5 14H2v-3",
  focus: "M8 1v4M8 11v4M1 8h4M11 8h4",
  frames: "M2 3h12M4 6.500h10M6 10h8M8 13.500h4",
  height: "M3 2.5h10M3 13.5h10M8 5v6M6 6.8L8 5l2 1.8M6 9.2L8 11l2-1.8",
  host: "M2 3h12v8H2zM5.5 14h5M8 11v3",
  minus: "M3 8h10",
  palette:
    "M8 2a6 6 0 1 0 0 12c1.6 0 1-1.7.7-2.3-.5-1 .3-1.7 1.3-1.7h1.7A2.3 2.3 0 0 0 14 7.700C13.8 4.5 11.2 2 8 2zM5.2 8v.1M7 5.200v.1M10.2 5.500v.1",
  path: "M2 12.500h4v-5h4v-4h4M2 9.500v3M10 3.500v4",
  pin: "M10 2l4 4-2.5.8-2.7 2.7L8.5 12 4 7.5l2.5-.3 2.7-2.7zM6 10l-4 4",
  plus: "M3 8h10M8 3v10",
  save: "M8 2v8M5 7l3 3 3-3M2.500 11v2.500h11V11",
  screen: "M2.5 3h11v10h-11zM5 8V5.500h3M11 8v2.500H8",
  search: "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM10.5 10.5L14 14",
  swap: "M3 5.500h9M9.500 3l2.500 2.500L9.500 8M13 10.500H4M6.500 8L4 10.500 6.500 13",
  table: "M2 3h12v10H2zM2 6.500h12M6 3v10",
  trace: "M2 3h6M5 6.5h7M3 10h9M7 13h7",
  up: "M4 10l4-4 4 4",
  warning: "M8 2l6.5 11.5h-13zM8 6.5v3.5M8 11.6v.4",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }): JSX.Element {
  return (
    <svg class="ks-icon" viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

interface IconButtonProps {
  readonly icon: IconName;
  readonly label: string;
  readonly onClick: (event: MouseEvent) => void;
  readonly pressed?: boolean;
  readonly class?: string;
}

export function IconButton({ icon, label, onClick, pressed, class: extra = "" }: IconButtonProps): JSX.Element {
  return (
    <button
      type="button"
      class={`ks-button ks-icon-button ${extra}`}
      title={label}
      aria-label={label}
      aria-pressed={pressed}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}
