import type { JSX } from "preact";
import { formatDuration } from "../../base/format";
import { lengthOf } from "../../base/time";
import type { Timeline } from "../timeline";
import { useCell } from "./hooks";

/** Exports: range and format. */
export function Save({ timeline }: { timeline: Timeline }): JSX.Element {
  const { saving } = timeline;
  const range = useCell(timeline.range.span);
  const isRedacted = useCell(saving.isRedacted);
  const said = useCell(saving.said);
  return (
    <div class="ks-save">
      <p>
        {range ? (
          <>
            <b>{formatDuration(lengthOf(range))}</b> from {formatDuration(range.start)}, with linked events: launches,
            kernels and the operators around them.
          </>
        ) : (
          <>
            <b>The whole trace.</b> Mark a range to save only that part.
          </>
        )}
      </p>
      <label class="ks-redacted">
        <input
          type="checkbox"
          checked={isRedacted}
          onChange={(event) => saving.isRedacted.set(event.currentTarget.checked)}
        />
        redacted <small>replaces paths, stacks, users and other private text</small>
      </label>
      <div class="ks-save-forms">
        <button type="button" class="ks-button ks-form" onClick={() => saving.save("trace", range)}>
          Save the trace <small>.json.gz, for any viewer</small>
        </button>
        {saving.savePage && (
          <button type="button" class="ks-button ks-form" onClick={() => saving.save("page", range)}>
            Save a report <small>.html, like this page</small>
          </button>
        )}
      </div>
      <p class="ks-note ks-saved" role="status">
        {said}
      </p>
    </div>
  );
}
