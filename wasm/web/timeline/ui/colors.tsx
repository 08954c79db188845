import type { JSX } from "preact";
import { formatDuration } from "../../base/format";
import { keep } from "../../base/kept";
import { COLOR_BY, type ColorBy, colorCode, ownerCode, type Palette, type Scheme } from "../../base/palette";
import { common, type Span } from "../../base/time";
import type { Tiles } from "../../source/protocol";
import { isComparison } from "../changes";
import type { Timeline } from "../timeline";
import { useCell, useFrames } from "./hooks";
import { KindLines, LegendLine, StripeLines } from "./legend";

const MOST = 24;

const MEANINGS: Readonly<Record<ColorBy, string>> = {
  kind: "kind of event",
  name: "event name",
  operator: "operator it belongs to",
  module: "module it belongs to",
};

interface Props {
  readonly timeline: Timeline;
  readonly palette: Palette;
}

/** Chooses the colour mode, with a legend of the visible events. */
export function Colors({ timeline, palette }: Props): JSX.Element {
  const by = useCell(timeline.colorBy);
  const scheme = useCell(timeline.scheme);
  const choose = (wanted: Scheme) => {
    timeline.scheme.set(wanted);
    keep("colors", wanted);
  };
  const { viewport, layout, size } = timeline;
  useFrames([timeline.stale, viewport.window, viewport.scroll, layout, size]);
  return (
    <div class="ks-colors">
      <fieldset>
        <legend>Colour bars by</legend>
        {COLOR_BY.map((one) => (
          <label key={one}>
            <input type="radio" name="ks-colors" checked={by === one} onChange={() => timeline.colorBy.set(one)} />
            {one} <small>{MEANINGS[one]}</small>
          </label>
        ))}
        <label>
          <input
            type="checkbox"
            checked={scheme === "okabe-ito"}
            onChange={(event) => choose(event.currentTarget.checked ? "okabe-ito" : "standard")}
          />
          Okabe–Ito colours <small>kinds differ for any colour vision</small>
        </label>
      </fieldset>
      <ul class="ks-legend">
        {by === "kind" ? <KindLines palette={palette} /> : named()}
        {isComparison(timeline.overview) && <StripeLines />}
      </ul>
    </div>
  );

  function named(): JSX.Element[] {
    return seen(timeline, by).map(([name, time]) => (
      <LegendLine key={name} color={palette.fills[codeOf(name, by)] ?? ""} name={name} note={formatDuration(time)} />
    ));
  }
}

const codeOf = (name: string, by: ColorBy): number => (by === "name" ? colorCode("other", name, by) : ownerCode(name));

/** Names with the most device time on the screen, or host time where no device is visible. */
function seen(timeline: Timeline, by: ColorBy): readonly (readonly [string, number])[] {
  const { viewport, size, tiles } = timeline;
  const all = timeline.shownRows.flatMap((row) => row.tracks);
  const streams = all.filter(({ kind }) => kind === "stream");
  const times = new Map<string, number>();
  const window = viewport.window.value;
  for (const { track } of streams.length > 0 ? streams : all) {
    for (const { trackTiles, span } of tiles.pieces(track, window, size.value.width)) {
      addTimes(times, trackTiles.tiles, by, common(window, span));
    }
  }
  return [...times].sort((a, b) => b[1] - a[1]).slice(0, MOST);
}

function addTimes(times: Map<string, number>, tiles: Tiles, by: ColorBy, window: Span): void {
  const { start: starts, dur: durs, names, name: codes, owners, owner } = tiles;
  const nameOf = (i: number) => (by === "name" ? names[codes[i] as number] : owners?.[owner?.[i] ?? 0]) ?? "";
  for (let i = 0; i < starts.length; i++) {
    const start = starts[i] as number;
    const time = Math.min(window.end, start + (durs[i] as number)) - Math.max(window.start, start);
    if (time > 0) times.set(nameOf(i), (times.get(nameOf(i)) ?? 0) + time);
  }
}
