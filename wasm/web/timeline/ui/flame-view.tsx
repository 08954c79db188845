import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Cell } from "../../base/cell";
import type { Flame } from "../flame";
import { FlameStage } from "../flame-stage";
import { pressFlame } from "../input/flame-keys";
import type { Look } from "../look";
import type { Timeline } from "../timeline";
import { FlameChoices } from "./flame-choices";
import { FlameCrumbs } from "./flame-crumbs";
import { FlameFrame } from "./flame-frame";
import { useCell } from "./hooks";

interface Props {
  readonly timeline: Timeline;
  readonly look: Cell<Look>;
  readonly leave: () => void;
}

/** The flame graph, in place of the tracks while it is open. */
export function FlameView({ timeline, look, leave }: Props): JSX.Element | null {
  const isOpen = useCell(timeline.flame.isOpen);
  return isOpen ? <OpenFlame timeline={timeline} look={look} leave={leave} /> : null;
}

function OpenFlame({ timeline, look, leave }: Props): JSX.Element {
  const { flame } = timeline;
  const box = useRef<HTMLDivElement>(null);
  const search = useRef<HTMLInputElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (!canvas.current) return;
    const stage = new FlameStage(flame, canvas.current, look);
    return () => stage.close();
  }, []);
  useLayoutEffect(() => {
    box.current?.focus({ preventScroll: true });
    return () => leave();
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    // No key may reach the timeline below, or the page around it.
    event.stopPropagation();
    if (event.target === box.current) onKey(event);
    else if (event.key === "Escape") box.current?.focus();
    else if (event.key === "Enter" && event.target === search.current) flame.nextHit(event.shiftKey ? -1 : 1);
  };
  const back = () => box.current?.focus({ preventScroll: true });
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "/") search.current?.select();
    else if (!pressFlame(timeline, event.key)) return;
    event.preventDefault();
  };
  return (
    <div
      class="ks-flame"
      ref={box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: an application handles its keys
      tabIndex={0}
      role="application"
      aria-label="Flame graph. Arrow keys choose a frame, Enter zooms to it, Escape goes back."
      onKeyDown={onKeyDown}
    >
      <FlameChoices timeline={timeline} search={search} />
      <FlameCrumbs flame={flame} leave={back} />
      <div class="ks-flame-picture">
        <canvas ref={canvas} role="img" aria-label="Frames inside of frames" />
        <Nothing flame={flame} />
      </div>
      <FlameFrame timeline={timeline} look={look} leave={back} />
    </div>
  );
}

function Nothing({ flame }: { readonly flame: Flame }): JSX.Element | null {
  const tree = useCell(flame.tree);
  if (tree && tree.levels.length > 0) return null;
  return <p class="ks-note">{tree ? `No frames: ${tree.frames.reason}.` : "Building the flame graph …"}</p>;
}
