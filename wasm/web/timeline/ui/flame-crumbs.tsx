import type { JSX } from "preact";
import { formatCount } from "../../base/format";
import type { Flame } from "../flame";
import { NONE } from "../flame-tree";
import { useCell, useLeaving } from "./hooks";

// Stacks may be deep; the innermost frames tell most.
const MOST = 6;

interface Props {
  readonly flame: Flame;
  /** Returns the focus to the graph. */
  readonly leave: () => void;
}

/** The frames around all that is visible, and the name that the graph begins with. */
export function FlameCrumbs({ flame, leave }: Props): JSX.Element {
  useCell(flame.viewport.told);
  const tree = useCell(flame.tree);
  const { focus, direction } = useCell(flame.options);
  if (!tree) return <div class="ks-flame-crumbs" />;
  const { total, num_unknown: unknown = 0, change } = tree.frames;
  const zoom = (row: number) => {
    flame.zoomTo(row);
    leave();
  };
  return (
    <div class="ks-flame-crumbs">
      {focus !== undefined && <Focus flame={flame} text={`${direction ?? "callees"} of ${focus}`} leave={leave} />}
      <button type="button" class="ks-button" onClick={() => zoom(NONE)}>
        <span>
          {flame.words(total)} {change ? "before and after" : "in all"}
        </span>
      </button>
      {flame.widest.slice(-MOST).map((row) => (
        <button key={row} type="button" class="ks-button" title={tree.name(row)} onClick={() => zoom(row)}>
          <span>› {tree.label(row)}</span>
        </button>
      ))}
      {unknown > 0 && (
        <span class="ks-note" title="Launches of lost device work, or operators without a cost model">
          weight of {formatCount(unknown)} calls unknown
        </span>
      )}
    </div>
  );
}

interface FocusProps {
  readonly flame: Flame;
  readonly text: string;
  readonly leave: () => void;
}

/** The name that the graph begins with; a click shows all frames again. */
function Focus({ flame, text, leave }: FocusProps): JSX.Element {
  const box = useLeaving<HTMLButtonElement>(leave);
  return (
    <button
      ref={box}
      type="button"
      class="ks-button"
      title={`${text}\nShow all frames (Escape)`}
      onClick={() => flame.choose({ focus: undefined })}
    >
      <span>{text}</span> ✕
    </button>
  );
}
