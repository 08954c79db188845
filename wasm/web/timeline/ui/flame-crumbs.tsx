import type { JSX } from "preact";
import { formatCount } from "../../base/format";
import type { Flame } from "../flame";
import { NONE } from "../flame-tree";
import { useCell } from "./hooks";

/** The frames around all that is visible, and the name that the graph begins with. */
export function FlameCrumbs({ flame }: { readonly flame: Flame }): JSX.Element {
  useCell(flame.viewport.told);
  const tree = useCell(flame.tree);
  const { focus, direction } = useCell(flame.options);
  if (!tree) return <div class="ks-flame-crumbs" />;
  const { total, num_unknown: unknown = 0, change } = tree.frames;
  return (
    <div class="ks-flame-crumbs">
      {focus !== undefined && (
        <button
          type="button"
          class="ks-button"
          title="Show all frames"
          onClick={() => flame.choose({ focus: undefined })}
        >
          {direction === "callers" ? "callers" : "callees"} of {focus} ✕
        </button>
      )}
      <button type="button" class="ks-button" onClick={() => flame.zoomTo(NONE)}>
        {flame.words(total)} {change ? "before and after" : "in all"}
      </button>
      {flame.widest.map((row) => (
        <button key={row} type="button" class="ks-button" title={tree.name(row)} onClick={() => flame.zoomTo(row)}>
          › {tree.label(row)}
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
