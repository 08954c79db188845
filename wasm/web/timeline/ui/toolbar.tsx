import type { JSX, RefObject } from "preact";
import { formatDuration, formatPlural } from "../../base/format";
import { COMMANDS, type Surroundings } from "../input/commands";
import type { Command } from "../input/keymap";
import type { Popover, Timeline } from "../timeline";
import { AlignChoice } from "./align";
import { canFillScreen } from "./full-screen";
import { useCell } from "./hooks";
import { Icon, IconButton } from "./icons";
import { SearchBox } from "./search-box";

interface Props {
  readonly timeline: Timeline;
  readonly title: string;
  readonly searchInput: RefObject<HTMLInputElement | null>;
  readonly around: Surroundings;
  readonly leave: () => void;
}

export function Toolbar({ timeline, title, searchInput, around, leave }: Props): JSX.Element {
  const { overview } = timeline;
  const colorBy = useCell(timeline.colorBy);
  const popover = useCell(timeline.popover);
  const run = (command: Command) => COMMANDS[command](timeline, around);
  const toggle = (name: Popover) => timeline.togglePopover(name);
  return (
    <div class="ks-toolbar" role="toolbar" aria-label="Timeline">
      <div class="ks-title">
        <strong title={title}>{title}</strong>
        <span>
          {formatPlural(overview.num_events, "event")} · {formatDuration(overview.duration)}
        </span>
      </div>
      <SearchBox timeline={timeline} input={searchInput} leave={leave} />
      <div class="ks-tools">
        <HealthBadge timeline={timeline} open={popover === "health"} toggle={() => toggle("health")} />
        <NotesButton timeline={timeline} open={popover === "notes"} toggle={() => toggle("notes")} />
        <FindingsButton timeline={timeline} open={popover === "findings"} toggle={() => toggle("findings")} />
        <AlignChoice timeline={timeline} />
        <FramesButton timeline={timeline} run={() => run("toggleFrames")} />
        <PathButton timeline={timeline} run={() => run("togglePath")} />
        <FlameButton timeline={timeline} run={() => run("toggleFlame")} />
        <CountersButton timeline={timeline} run={() => run("toggleCounters")} />
        <button
          type="button"
          class="ks-button ks-colors-button"
          title="Colour by kind, name, operator or module (x)"
          aria-expanded={popover === "colors"}
          onClick={() => toggle("colors")}
        >
          <Icon name="palette" />
          {colorBy}
        </button>
        <IconButton icon="minus" label="Zoom out (s)" onClick={() => run("zoomOut")} />
        <IconButton icon="plus" label="Zoom in (w)" onClick={() => run("zoomIn")} />
        <IconButton icon="fit" label="Show the whole trace (0)" onClick={() => run("fitAll")} />
        {canFillScreen() && (
          <IconButton icon="screen" label="Full screen (Shift+F)" onClick={() => run("toggleFullScreen")} />
        )}
        <button
          type="button"
          class="ks-button ks-icon-button"
          title="Help (?)"
          aria-label="Help"
          aria-expanded={popover === "help"}
          onClick={() => toggle("help")}
        >
          ?
        </button>
      </div>
    </div>
  );
}

interface BadgeProps {
  readonly timeline: Timeline;
  readonly open: boolean;
  readonly toggle: () => void;
}

function HealthBadge({ timeline, open, toggle }: BadgeProps): JSX.Element | null {
  const { state, problems } = timeline.overview.verdict;
  if (problems.length === 0) return null;
  const word = state === "complete" ? formatPlural(problems.length, "remark") : state;
  const label = `Trace health: ${word}`;
  return (
    <button
      type="button"
      class={state === "complete" ? "ks-button" : "ks-button ks-health"}
      title={label}
      aria-label={label}
      aria-expanded={open}
      onClick={toggle}
    >
      <Icon name="warning" />
      {word}
    </button>
  );
}

function FindingsButton({ timeline, open, toggle }: BadgeProps): JSX.Element | null {
  const { length } = useCell(timeline.findings.all);
  if (length === 0) return null;
  const label = `${formatPlural(length, "finding")} (g)`;
  return (
    <button type="button" class="ks-button" title={label} aria-label={label} aria-expanded={open} onClick={toggle}>
      <Icon name="bulb" />
      {length}
    </button>
  );
}

function PathButton({ timeline, run }: { timeline: Timeline; run: () => void }): JSX.Element {
  const isOn = useCell(timeline.path.isOn);
  return <IconButton icon="path" label="Critical path (k)" pressed={isOn} onClick={run} />;
}

function FlameButton({ timeline, run }: { timeline: Timeline; run: () => void }): JSX.Element {
  const isOn = useCell(timeline.flame.isOpen);
  return <IconButton icon="flame" label="Flame graph (e)" pressed={isOn} onClick={run} />;
}

function FramesButton({ timeline, run }: { timeline: Timeline; run: () => void }): JSX.Element | null {
  const { frames = true } = useCell(timeline.setup);
  if (timeline.overview.num_frames === 0) return null;
  const label = `Python functions: ${frames ? "shown" : "hidden"} (y)`;
  return <IconButton icon="frames" label={label} pressed={frames} onClick={run} />;
}

function CountersButton({ timeline, run }: { timeline: Timeline; run: () => void }): JSX.Element {
  const { length } = useCell(timeline.counters.shown);
  return (
    <IconButton icon="chart" label="Counters: memory, queues, device use (v)" pressed={length > 0} onClick={run} />
  );
}

function NotesButton({ timeline, open, toggle }: BadgeProps): JSX.Element {
  const { length } = useCell(timeline.notes.all);
  const label = length > 0 ? formatPlural(length, "note") : "Notes";
  return (
    <button type="button" class="ks-button" title="Notes (n)" aria-label={label} aria-expanded={open} onClick={toggle}>
      <Icon name="flag" />
      {length > 0 && length}
    </button>
  );
}
