import type { JSX } from "preact";
import type { Cell } from "../../base/cell";
import { formatCount, formatShare } from "../../base/format";
import type { Palette } from "../../base/palette";
import { type Flame, NO_EVENT } from "../flame";
import { visitFrame } from "../flame-links";
import { type FlameTree, NONE } from "../flame-tree";
import type { Look } from "../look";
import { codeOf } from "../paint/flame";
import type { Timeline } from "../timeline";
import { useCell, useLeaving } from "./hooks";

interface Props {
  readonly timeline: Timeline;
  readonly look: Cell<Look>;
  /** Returns the focus to the graph. */
  readonly leave: () => void;
}

/** Facts about the chosen frame, or the one under the pointer, and ways from it. */
export function FlameFrame({ timeline, look, leave }: Props): JSX.Element {
  const { flame } = timeline;
  const tree = useCell(flame.tree);
  const hovered = useCell(flame.hovered);
  const chosen = useCell(flame.chosen);
  const { palette } = useCell(look);
  const row = chosen === NONE ? hovered : chosen;
  if (!tree || row === NONE || row >= tree.frames.depth.length) {
    return (
      <div class="ks-flame-frame ks-note">Click a frame; double-click zooms; ↑ ↓ ← → choose; Backspace zooms out.</div>
    );
  }
  const facts = { flame, tree, palette };
  return (
    <div class="ks-flame-frame">
      {hovered !== NONE && hovered !== row && (
        <div class="ks-flame-frame ks-flame-hovered">
          <Facts {...facts} row={hovered} />
        </div>
      )}
      <Facts {...facts} row={row} />
      {chosen !== NONE && <FrameLinks timeline={timeline} tree={tree} row={row} leave={leave} />}
    </div>
  );
}

interface FactsProps {
  readonly flame: Flame;
  readonly tree: FlameTree;
  readonly palette: Palette;
  readonly row: number;
}

function Facts({ flame, tree, palette, row }: FactsProps): JSX.Element {
  const { weight, self, count, change, total } = tree.frames;
  const all = weight[row] as number;
  const calls = count?.[row] ?? 0;
  return (
    <>
      <span class="ks-flame-name" title={tree.name(row)}>
        <i style={{ background: palette.fills[codeOf(tree, row)] ?? "" }} />
        <b>{tree.label(row)}</b> <small>{tree.kind(row) === "none" ? "" : tree.kind(row)}</small>
      </span>
      {change ? (
        <Changed flame={flame} all={all} change={change[row] as number} />
      ) : (
        <span>
          <b>{flame.words(all)}</b> {formatShare(all, total)}
        </span>
      )}
      {self && <span>self {flame.words(self[row] as number)}</span>}
      {calls > 0 && <span>{formatCount(calls)} ×</span>}
    </>
  );
}

interface LinksProps {
  readonly timeline: Timeline;
  readonly tree: FlameTree;
  readonly row: number;
  readonly leave: () => void;
}

/** Ways from the chosen frame. */
function FrameLinks({ timeline, tree, row, leave }: LinksProps): JSX.Element {
  const { flame } = timeline;
  const box = useLeaving<HTMLSpanElement>(leave);
  const { change, id, before_id: before } = tree.frames;
  const focus = (direction: "callers" | "callees") => flame.choose({ focus: tree.name(row), direction });
  const hasEvent = [id, before].some((ids) => ids !== undefined && ids[row] !== NO_EVENT);
  return (
    <span class="ks-flame-go" ref={box}>
      {!change && (
        <>
          <button type="button" class="ks-button" onClick={() => focus("callers")}>
            Callers
          </button>
          <button type="button" class="ks-button" onClick={() => focus("callees")}>
            Callees
          </button>
        </>
      )}
      {hasEvent && (
        <button type="button" class="ks-button" title="(t)" onClick={() => visitFrame(timeline)}>
          Largest call in the timeline
        </button>
      )}
    </span>
  );
}

interface ChangedProps {
  readonly flame: Flame;
  /** Weight before and after together. */
  readonly all: number;
  readonly change: number;
}

function Changed({ flame, all, change }: ChangedProps): JSX.Element {
  const sign = change < 0 ? "−" : "+";
  return (
    <span>
      {flame.words((all - change) / 2)} → {flame.words((all + change) / 2)}{" "}
      <b>
        {sign}
        {flame.words(Math.abs(change))}
      </b>
    </span>
  );
}
