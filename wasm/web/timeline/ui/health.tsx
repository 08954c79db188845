import type { JSX } from "preact";
import { formatCount, formatShare } from "../../base/format";
import type { Coverage, Problem, VerdictState } from "../../source/verdict";
import type { Timeline } from "../timeline";

interface Props {
  readonly timeline: Timeline;
  readonly close: () => void;
}

/** The verdict on the recording, its problems with links to their events, and link coverage. */
export function Health({ timeline, close }: Props): JSX.Element {
  const { overview } = timeline;
  const isOneOfSeveral = overview.parts.length > 1;
  return (
    <>
      <p class={`ks-verdict ks-${overview.verdict.state}`}>{words[overview.verdict.state]}</p>
      <table class="ks-table">
        <tbody>
          {overview.verdict.problems.map((problem) => (
            <tr key={`${problem.part} ${problem.message}`}>
              {isOneOfSeveral && <td>{timeline.partName(problem.part)}</td>}
              <td class="ks-state">{problem.state === "complete" ? "remark" : problem.state}</td>
              <td>
                <Message timeline={timeline} problem={problem} close={close} />
                {problem.advice && <small class="ks-block">Fix: {problem.advice}</small>}
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

function Message({ timeline, problem, close }: Props & { problem: Problem }): JSX.Element {
  const { event, message } = problem;
  if (event === null) return <>{message}</>;
  const visit = () => {
    close();
    timeline.go(event);
  };
  return (
    <button type="button" class="ks-link" title="Go to the first event" onClick={visit}>
      {message}
    </button>
  );
}

const words: Record<VerdictState, string> = {
  complete: "Complete: nothing is known to be missing or impossible.",
  incomplete: "Incomplete: device time beside lost work is unknown, not idle.",
  inconsistent: "Inconsistent: some times or ids cannot be.",
};

function shares(coverage: Coverage): readonly (readonly [string, number, number])[] {
  const all = [
    ["device events linked to their launch", coverage.device_events],
    ["device events linked to their operator", coverage.device_owners],
    ["Execution Trace nodes linked to their event", coverage.nodes],
  ] as const;
  return all.filter(([, share]) => share.count > 0).map(([what, share]) => [what, share.num_linked, share.count]);
}
