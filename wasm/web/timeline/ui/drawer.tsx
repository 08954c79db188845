import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Palette } from "../../base/palette";
import type { Drawer as DrawerName, Timeline } from "../timeline";
import { EventPanel } from "./event-panel";
import { FindingPanel } from "./finding-panel";
import { GapPanel } from "./gap-panel";
import { useCell, useLeaving } from "./hooks";
import { IconButton } from "./icons";
import { RangePanel } from "./range-panel";
import { Sash } from "./sash";

const SMALLEST = 0.15;
const LARGEST = 0.8;

interface Props {
  readonly timeline: Timeline;
  readonly palette: Palette;
  readonly leave: () => void;
}

/** Details of the selection or the marked range, below the picture. */
export function Drawer(props: Props): JSX.Element | null {
  const open = useCell(props.timeline.drawer);
  return open ? <OpenDrawer {...props} open={open} /> : null;
}

function OpenDrawer({ timeline, palette, leave, open }: Props & { open: DrawerName }): JSX.Element {
  const selected = useCell(timeline.selection.current);
  const gap = useCell(timeline.gaps.current);
  const range = useCell(timeline.range.span);
  const finding = useCell(timeline.findings.current);
  const share = useCell(timeline.drawerShare);
  const put = (height: number, whole: number) =>
    timeline.drawerShare.set(Math.min(LARGEST, Math.max(SMALLEST, height / Math.max(1, whole))));
  const box = useLeaving<HTMLElement>(leave);
  const close = () => timeline.drawer.set(null);
  return (
    <section class="ks-drawer" ref={box} style={{ height: `${share * 100}%` }} aria-label="Details">
      <Sash label="Height of the details" isUpright={false} value={share * 100} put={put} />
      <header>
        <div role="tablist">
          {selected && <Tab timeline={timeline} name="event" label="Event" />}
          {gap && <Tab timeline={timeline} name="gap" label="Idle" />}
          {range && <Tab timeline={timeline} name="range" label="Range" />}
          {finding && <Tab timeline={timeline} name="finding" label="Finding" />}
        </div>
        <IconButton icon="close" label="Close the details" onClick={close} />
      </header>
      <Panel of={`${open} ${open === "event" ? selected?.details.id : gap?.start}`} leave={leave}>
        {open === "event" && selected && <EventPanel timeline={timeline} palette={palette} selected={selected} />}
        {open === "gap" && gap && <GapPanel timeline={timeline} palette={palette} gap={gap} />}
        {open === "range" && range && <RangePanel timeline={timeline} palette={palette} span={range} />}
        {open === "finding" && finding && <FindingPanel timeline={timeline} palette={palette} finding={finding} />}
      </Panel>
    </section>
  );
}

interface PanelProps {
  readonly of: string;
  readonly leave: () => void;
  readonly children: ComponentChildren;
}

/**
 * Scrolls to its top for each new subject. The link that was followed may be gone with the focus.
 */
function Panel({ of, leave, children }: PanelProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const hadFocus = box.current?.matches(":focus-within");
  useLayoutEffect(() => {
    const { current } = box;
    if (!current) return;
    current.scrollTop = 0;
    if (hadFocus && !current.matches(":focus-within")) leave();
  }, [of]);
  return (
    <div class="ks-panel" role="tabpanel" ref={box}>
      {children}
    </div>
  );
}

interface TabProps {
  readonly timeline: Timeline;
  readonly name: DrawerName;
  readonly label: string;
}

function Tab({ timeline, name, label }: TabProps): JSX.Element {
  const open = useCell(timeline.drawer);
  return (
    <button
      type="button"
      role="tab"
      class="ks-tab"
      aria-selected={open === name}
      onClick={() => timeline.drawer.set(name)}
    >
      {label}
    </button>
  );
}
