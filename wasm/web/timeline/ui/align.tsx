import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Align, Overview } from "../../source/protocol";
import { isSameAlign } from "../../source/setup";
import type { Timeline } from "../timeline";
import { useCell } from "./hooks";

// A longer list would not be read.
const MOST_ITERATIONS = 50;

interface Choice {
  readonly align: Align;
  readonly text: string;
  readonly title: string;
}

const CHOICES: readonly Choice[] = [
  { align: "clocks", text: "clocks", title: "Correct clock offsets, as measured by collectives" },
  { align: "recorded", text: "recorded", title: "Times as recorded in the files" },
  { align: "start", text: "start", title: "First event of each trace" },
];

/** Chooses how several traces are aligned. */
export function AlignChoice({ timeline }: { timeline: Timeline }): JSX.Element | null {
  const { align = "clocks" } = useCell(timeline.setup);
  const { overview } = timeline;
  // Alignment does not change the iterations.
  const choices = useMemo(() => choicesOf(overview), [timeline]);
  if (overview.parts.length < 2) return null;
  const at = choices.findIndex((choice) => isSameAlign(choice.align, align));
  return (
    <label class="ks-align" title="Alignment of the traces in time">
      align
      <select
        aria-label="Align traces by"
        value={at}
        onChange={(event) => {
          const choice = choices[Number(event.currentTarget.value)];
          if (choice) timeline.setUp({ align: choice.align }, () => timeline.said.set(`Aligned by ${choice.text}`));
        }}
      >
        {choices.map(({ text, title }, index) => (
          <option key={text} value={index} title={title}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Alignments without an iteration, and one per iteration that every trace has. */
function choicesOf({ parts }: Overview): readonly Choice[] {
  const [first, ...others] = parts.map(({ iterations }) => iterations.map(({ iteration }) => iteration));
  const common = (first ?? []).filter((iteration) => others.every((other) => other.includes(iteration)));
  return [
    ...CHOICES,
    ...common.slice(0, MOST_ITERATIONS).map((iteration) => ({
      align: { iteration },
      text: `iteration ${iteration}`,
      title: "Start of this iteration",
    })),
  ];
}
