import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Palette } from "../../base/palette";
import { scaleOf } from "../../base/scale";
import { lengthOf, type Span, span } from "../../base/time";
import type { Group, Tiles, Track } from "../../source/protocol";
import { paintStripe } from "../paint/minimap";
import { Strip } from "../paint/strip";
import { busiest } from "../row";
import type { Timeline } from "../timeline";
import { TrackTiles } from "../track-tiles";

// Of streams, and of threads.
const MOST_TRACKS = 3;
// In CSS pixels.
const STRIPE = 11;

interface Props {
  readonly timeline: Timeline;
  readonly palette: Palette;
  readonly base: Span;
  readonly span: Span;
}

/** The busiest tracks of two ranges, one range above the other, on one scale. */
export function AlignedRanges({ timeline, palette, base, span: after }: Props): JSX.Element {
  const longest = Math.max(lengthOf(base), lengthOf(after));
  const tracks = shownTracks(timeline);
  return (
    <div class="ks-aligned">
      {[base, after].map((range, at) => (
        <Stripes key={at} letter={"AB"[at] ?? ""} {...{ timeline, palette, range, longest, tracks }} />
      ))}
    </div>
  );
}

function shownTracks({ overview, range }: Timeline): readonly Track[] {
  const isOwn = (group: Group) => group.part === range.part.value && !group.is_aside;
  const groups = new Set(overview.groups.filter(isOwn).map(({ group }) => group));
  const own = overview.tracks.filter(({ group }) => groups.has(group));
  const of = (kind: Track["kind"]) =>
    busiest(
      own.filter((track) => track.kind === kind),
      MOST_TRACKS,
    );
  return [...of("thread"), ...of("stream")];
}

interface StripesProps {
  readonly timeline: Timeline;
  readonly palette: Palette;
  readonly letter: string;
  readonly range: Span;
  readonly longest: number;
  readonly tracks: readonly Track[];
}

function Stripes({ timeline, palette, letter, range, longest, tracks }: StripesProps): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    let isWanted = true;
    const { current } = canvas;
    if (!current) return;
    const dpr = window.devicePixelRatio || 1;
    current.width = Math.max(1, Math.round(current.clientWidth * dpr));
    current.height = Math.round(tracks.length * STRIPE * dpr);
    const { start, end } = range;
    const pixels = Math.max(1, Math.round((current.width * lengthOf(range)) / longest));
    const answers = tracks.map(({ track }) => timeline.source.query("tiles", { tracks: [track], start, end, pixels }));
    Promise.all(answers).then(
      (all) => isWanted && paint(current, timeline, palette, span(start, start + longest), tracks, all),
      // Tiles for options that have changed meanwhile are dropped: the next effect asks again.
      () => {},
    );
    return () => {
      isWanted = false;
    };
  }, [range.start, range.end, longest, palette, timeline.setup.value]);
  return (
    <div class="ks-aligned-range">
      <b>{letter}</b>
      <canvas
        ref={canvas}
        style={{ height: `${tracks.length * STRIPE}px` }}
        role="img"
        aria-label={`Range ${letter}: ${tracks.map(({ name }) => name).join(", ")}`}
        title={tracks.map(({ name }) => name).join("\n")}
      />
    </div>
  );
}

function paint(
  canvas: HTMLCanvasElement,
  timeline: Timeline,
  palette: Palette,
  shown: Span,
  tracks: readonly Track[],
  all: readonly Tiles[],
): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  const strip = new Strip();
  strip.begin(canvas.width);
  const place = { strip, palette, scale: scaleOf(shown, canvas.width), by: "kind" as const };
  const height = canvas.height / Math.max(1, tracks.length);
  for (const [at, tiles] of all.entries()) {
    const y = Math.round(at * height);
    const box = { y, height: Math.max(1, Math.round((at + 1) * height) - y - 2) };
    paintStripe(place, box, new TrackTiles(tracks[at]?.track ?? 0, tiles), timeline.overview.kinds);
  }
  strip.draw(context);
}
