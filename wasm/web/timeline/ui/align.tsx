import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Align, Overview } from "../../source/protocol";
import { isSameAlign } from "../../source/setup";
import type { Timeline } from "../timeline";
import { useCell } from "./hooks";

// A list that nobody reads to its end helps nobody.
const MOST_ITERATIONS = 50;

interface Choice {
  readonly align: Align;
  readonly text: string;
  readonly title: string;
}

const CHOICES: readonly Choice[] = [
  { align: "clocks", text: "clocks", title: "what happened at the same time: clocks are compared by communications" },
  { align: "recorded", text: "recorded", title: "the times in the files" },
  { align: "start", text: "start", title: "the first event of each" },
];

/** How several traces lie over each other. */
export function AlignChoice({ timeline }: { timeline: Timeline }): JSX.Element | null {
  const { align = "clocks" } = useCell(timeline.setup);
  const { overview } = timeline;
  // Which iterations there are does not change with the alignment.
  const choices = useMemo(() => choicesOf(overview), [timeline]);
  if (overview.parts.length < 2) return null;
  const at = choices.findIndex((choice) => isSameAlign(choice.align, align));
  return (
    <label class="ks-align" title="What lies at the same place of the screen">
      align
      <select
        aria-label="Align the traces by"
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

/** Iterations that every trace has, beside what needs none. */
function choicesOf({ parts }: Overview): readonly Choice[] {
  const [first, ...others] = parts.map(({ iterations }) => iterations.map(({ iteration }) => iteration));
  const common = (first ?? []).filter((iteration) => others.every((other) => other.includes(iteration)));
  return [
    ...CHOICES,
    ...common.slice(0, MOST_ITERATIONS).map((iteration) => ({
      align: { iteration },
      text: `iteration ${iteration}`,
      title: "the starts of this iteration",
    })),
  ];
}
