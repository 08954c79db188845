import type { JSX } from "preact";
import { formatCount, formatShare } from "../../base/format";
import type { Coverage } from "../../source/protocol";
import type { Timeline } from "../timeline";

/** Defects of the recording and link coverage. */
export function Health({ timeline }: { timeline: Timeline }): JSX.Element {
  const { overview } = timeline;
  const isOneOfSeveral = overview.parts.length > 1;
  return (
    <>
      <table class="ks-table">
        <tbody>
          {overview.health.map((defect) => (
            <tr key={`${defect.part} ${defect.kind}`}>
              {isOneOfSeveral && <td>{timeline.partName(defect.part)}</td>}
              <td class="ks-number">{formatCount(defect.count)} ×</td>
              <td>
                {defect.message}
                {defect.first && <small class="ks-block">first: {defect.first}</small>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <table class="ks-table ks-rank">
        <tbody>
          {shares(overview.coverage).map(([what, part, whole]) => (
            <tr key={what}>
              <td>{what}</td>
              <td class="ks-number">
                {formatCount(part)} of {formatCount(whole)}
              </td>
              <td class="ks-number">{formatShare(part, whole)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function shares(coverage: Coverage): readonly (readonly [string, number, number])[] {
  const all = [
    ["device events linked to their launch", coverage.device_events],
    ["device events linked to their operator", coverage.device_owners],
    ["Execution Trace nodes linked to their event", coverage.nodes],
  ] as const;
  return all.filter(([, share]) => share.count > 0).map(([what, share]) => [what, share.num_linked, share.count]);
}
