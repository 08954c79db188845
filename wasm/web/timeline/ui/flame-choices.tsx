import type { JSX } from "preact";
import { formatCount, formatShare } from "../../base/format";
import type { FlameOptions } from "../../source/flame";
import type { FlamePart } from "../flame";
import type { Timeline } from "../timeline";
import { useCell } from "./hooks";
import { Icon, IconButton } from "./icons";

const FRAMES: readonly (readonly [NonNullable<FlameOptions["by"]>, string])[] = [
  ["chain", "module → operator → kernel"],
  ["stack", "Python stack"],
  ["module", "module"],
  ["operator", "operator"],
];

const WEIGHTS: readonly (readonly [NonNullable<FlameOptions["weight"]>, string])[] = [
  ["device_ns", "device time"],
  ["host_ns", "host time"],
  ["self_ns", "host self time"],
  ["idle_ns", "idle time caused"],
  ["calls", "calls"],
  ["allocated_bytes", "allocated bytes"],
  ["flops", "FLOP"],
];

interface Props {
  readonly timeline: Timeline;
  readonly search: { current: HTMLInputElement | null };
}

/** Chooses frames, their width, and the part of the trace. */
export function FlameChoices({ timeline, search }: Props): JSX.Element {
  const { flame } = timeline;
  const options = useCell(flame.options);
  const tree = useCell(flame.tree);
  const found = useCell(flame.search);
  const chosen = useCell(flame.chosen);
  const weight = tree?.frames.weight_name ?? options.weight ?? "device_ns";
  return (
    <div class="ks-flame-choices">
      <label>
        <span>Frames</span>
        <select
          value={options.by ?? "chain"}
          onChange={(event) => flame.choose({ by: event.currentTarget.value as FlameOptions["by"], focus: undefined })}
        >
          {FRAMES.map(([name, text]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Width</span>
        <select
          value={weight}
          onChange={(event) => flame.choose({ weight: event.currentTarget.value as FlameOptions["weight"] })}
        >
          {WEIGHTS.map(([name, text]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <PartSelect timeline={timeline} />
      <label title="Frames of one name together, the widest first">
        <input
          type="checkbox"
          checked={options.order !== "time"}
          onChange={(event) => flame.choose({ order: event.currentTarget.checked ? "merged" : "time" })}
        />
        merged
      </label>
      {["chain", "module"].includes(options.by ?? "chain") && (
        <label title="Modules of a class together: Linear_0 and Linear_1 as Linear">
          <input
            type="checkbox"
            checked={options.classes === true}
            onChange={(event) => flame.choose({ classes: event.currentTarget.checked })}
          />
          classes
        </label>
      )}
      {(options.by ?? "chain") === "stack" && (
        <label title="Leave out frames of PyTorch, Python and installed packages">
          <input
            type="checkbox"
            checked={options.program_only === true}
            onChange={(event) => flame.choose({ program_only: event.currentTarget.checked })}
          />
          program only
        </label>
      )}
      <search class="ks-field ks-search">
        <Icon name="search" />
        <input
          ref={search}
          type="text"
          placeholder="Search frames  /"
          title="Enter goes to the next hit, Shift+Enter to the one before"
          aria-label="Search frames"
          autocomplete="off"
          spellcheck={false}
          value={found?.text ?? ""}
          onInput={(event) => flame.find(event.currentTarget.value)}
        />
        {found && tree && (
          <span class="ks-hits">
            {found.rows.includes(chosen) && `${formatCount(found.rows.indexOf(chosen) + 1)} of `}
            {formatCount(found.rows.length)} · {formatShare(found.weight, tree.frames.total)}
          </span>
        )}
      </search>
      <IconButton icon="close" label="Back to the timeline (e)" onClick={() => flame.close()} />
    </div>
  );
}

// A list of more iterations would be no choice any more.
const MOST_ITERATIONS = 200;

/** Chooses the part: a trace, the marked range, an iteration or a phase. */
function PartSelect({ timeline }: { readonly timeline: Timeline }): JSX.Element {
  const { flame, overview } = timeline;
  const about = useCell(flame.about);
  const parts = partsOf(timeline);
  const chosen = parts.findIndex(({ about: one }) => JSON.stringify(one) === JSON.stringify(about));
  return (
    <>
      {overview.parts.length > 1 && <TraceSelects timeline={timeline} about={about} />}
      <label>
        <span>Of</span>
        <select value={chosen} onChange={(event) => flame.show(parts[Number(event.currentTarget.value)]?.about ?? {})}>
          {chosen < 0 && <option value={-1}>other range</option>}
          {parts.map(({ text }, at) => (
            <option key={text} value={at}>
              {text}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}

interface TraceProps {
  readonly timeline: Timeline;
  readonly about: FlamePart;
}

/** Chooses a trace, and another one to compare it with. */
function TraceSelects({ timeline, about }: TraceProps): JSX.Element {
  const { flame, overview } = timeline;
  const { part = 0, against, ...rest } = about;
  const traces = overview.parts.map((trace) => ({
    part: trace.part,
    text: timeline.partName(trace.part) || `trace ${trace.part + 1}`,
  }));
  const compare = (wanted: number, other: number | undefined) => {
    const isOther = other !== undefined && other !== wanted;
    flame.show({ ...rest, part: wanted, ...(isOther ? { against: other } : {}) });
  };
  return (
    <>
      <label>
        <span>Trace</span>
        <select value={part} onChange={({ currentTarget: { value } }) => compare(Number(value), against)}>
          {traces.map(({ part: own, text }) => (
            <option key={own} value={own}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <label title="Red frames take more than in the other trace, blue ones less">
        <span>Against</span>
        <select
          value={against ?? ""}
          onChange={({ currentTarget: { value } }) => compare(part, value === "" ? undefined : Number(value))}
        >
          <option value="">none</option>
          {traces
            .filter(({ part: own }) => own !== part)
            .map(({ part: own, text }) => (
              <option key={own} value={own}>
                {own === overview.typical_part ? `${text} (median)` : text}
              </option>
            ))}
        </select>
      </label>
    </>
  );
}

function partsOf({
  overview,
  range,
  flame,
}: Timeline): readonly { readonly text: string; readonly about: FlamePart }[] {
  const { part, against } = flame.about.value;
  const of: FlamePart = { ...(part === undefined ? {} : { part }), ...(against === undefined ? {} : { against }) };
  const marked = range.span.value;
  const iterations = overview.parts[part ?? 0]?.iterations ?? overview.iterations;
  const phases = [...new Set(iterations.flatMap(({ phase }) => phase ?? []))];
  return [
    { text: "everything", about: of },
    ...(marked ? [{ text: "the marked range", about: { ...of, start: marked.start, end: marked.end } }] : []),
    ...phases.map((phase) => ({ text: `phase ${phase}`, about: { ...of, phase } })),
    ...iterations.slice(0, MOST_ITERATIONS).map(({ iteration, name }) => ({
      text: name.includes(String(iteration)) ? name : `${name} ${iteration}`,
      about: { ...of, iteration },
    })),
  ];
}
