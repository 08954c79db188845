import type { JSX, RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Cell } from "../../base/cell";
import { formatDuration, formatPlural } from "../../base/format";
import { scaleOf } from "../../base/scale";
import type { Surroundings } from "../input/commands";
import type { Look } from "../look";
import { rulerBase, windowLength } from "../paint/header";
import { FINDINGS_HEIGHT, ITERATIONS_HEIGHT, NOTES_HEIGHT, RULER_HEIGHT } from "../paint/scene";
import { Stage } from "../stage";
import type { Timeline } from "../timeline";
import { Details } from "./details";
import { FindingTip } from "./finding-tip";
import { FlameView } from "./flame-view";
import { toggleFullScreen } from "./full-screen";
import { Gutter } from "./gutter";
import { useCell } from "./hooks";
import { IconButton } from "./icons";
import { PathLegend } from "./path-legend";
import { Popovers } from "./popovers";
import { Sash } from "./sash";
import { Scrollbar } from "./scrollbar";
import { Toolbar } from "./toolbar";
import { Tooltip } from "./tooltip";
import { TrackFilter } from "./track-filter";

// Width and minimum width of track names, in CSS pixels, as in the style sheet.
const GUTTER_WIDTH = 210;
const NARROWEST = 80;
// As a share of the width.
const WIDEST = 0.6;

interface Props {
  readonly timeline: Timeline;
  readonly root: HTMLElement;
  readonly look: Cell<Look>;
  /** The host's name for the trace. */
  readonly title: string;
}

export function App({ timeline, root, look, title }: Props): JSX.Element {
  const stage = useRef<HTMLDivElement>(null);
  const searchInput = useRef<HTMLInputElement>(null);
  const filterInput = useRef<HTMLInputElement>(null);
  const around = {
    focusSearch: () => searchInput.current?.select(),
    focusFilter: () => filterInput.current?.select(),
    toggleFullScreen: () => void toggleFullScreen(timeline, root),
  };
  const leave = () => stage.current?.focus({ preventScroll: true });
  const { palette } = useCell(look);
  const gutterWidth = useCell(timeline.gutterWidth);
  const side = useCell(timeline.details.side);
  // Everything below depends on the overview.
  useCell(timeline.setup);
  if (timeline.overview.num_events === 0) return <Empty timeline={timeline} title={title} />;
  return (
    <>
      <Toolbar timeline={timeline} title={title} searchInput={searchInput} around={around} leave={leave} />
      <ErrorBar timeline={timeline} />
      <div class="ks-body" data-side={side}>
        <div
          class="ks-stage"
          ref={stage}
          style={gutterWidth === null ? {} : { "--ks-gutter": `${gutterWidth}px` }}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: an application handles its keys
          tabIndex={0}
          role="application"
          aria-label={`Timeline of ${title}: ${formatPlural(timeline.overview.num_events, "event")} in ${formatDuration(timeline.overview.duration)}. Press question mark for help.`}
        >
          <Corner timeline={timeline} filterInput={filterInput} leave={leave} />
          <Gutter timeline={timeline} palette={palette} leave={leave} />
          <Picture timeline={timeline} root={root} look={look} around={around} />
          <Scrollbar timeline={timeline} />
          <GutterSash timeline={timeline} />
          <FlameView timeline={timeline} look={look} leave={leave} />
        </div>
        <Details timeline={timeline} palette={palette} leave={leave} />
      </div>
      <Popovers timeline={timeline} palette={palette} around={around} leave={leave} />
      <Said timeline={timeline} />
    </>
  );
}

function GutterSash({ timeline }: { timeline: Timeline }): JSX.Element {
  const width = useCell(timeline.gutterWidth);
  const put = (wanted: number, whole: number) =>
    timeline.gutterWidth.set(Math.round(Math.max(NARROWEST, Math.min(wanted, WIDEST * whole))));
  return <Sash label="Width of track names" edge="left" value={width ?? GUTTER_WIDTH} put={put} />;
}

type PictureProps = Omit<Props, "title"> & { readonly around: Surroundings };

function Picture({ timeline, root, look, around }: PictureProps): JSX.Element {
  const minimap = useRef<HTMLCanvasElement>(null);
  const picture = useRef<HTMLDivElement>(null);
  const tracks = useRef<HTMLCanvasElement>(null);
  const overlay = useRef<HTMLCanvasElement>(null);
  const isBusy = useCell(timeline.waiting.isBusy);
  useEffect(() => {
    const elements = {
      root,
      minimap: minimap.current,
      picture: picture.current,
      tracks: tracks.current,
      overlay: overlay.current,
    };
    if (!isComplete(elements)) return;
    const stage = new Stage(timeline, elements, look, around);
    return () => stage.close();
    // Everything here lives as long as the element.
  }, []);
  return (
    <>
      <canvas class="ks-minimap" ref={minimap} role="img" aria-label="The whole trace" />
      <div class="ks-picture" ref={picture} aria-busy={isBusy}>
        <canvas class="ks-tracks" ref={tracks} role="img" aria-label="Events over time" />
        <canvas class="ks-overlay" ref={overlay} role="img" aria-label="Selection and links" />
        <Tooltip timeline={timeline} palette={look.value.palette} />
        <FindingTip timeline={timeline} />
        <PathLegend timeline={timeline} />
      </div>
    </>
  );
}

type Complete<T> = { [K in keyof T]: NonNullable<T[K]> };

const isComplete = <T extends object>(elements: T): elements is T & Complete<T> =>
  Object.values(elements).every((element) => element !== null);

interface CornerProps {
  readonly timeline: Timeline;
  readonly filterInput: RefObject<HTMLInputElement | null>;
  readonly leave: () => void;
}

/** The corner beside the ruler: base of its labels, and length of the window. */
function Corner({ timeline, filterInput, leave }: CornerProps): JSX.Element {
  const window = useCell(timeline.viewport.window);
  const { width } = useCell(timeline.size);
  const notes = useCell(timeline.notes.all);
  const findings = useCell(timeline.findings.all);
  const scene = { scale: scaleOf(window, width), cssWidth: width };
  return (
    <div class="ks-corner">
      <div class="ks-corner-strip">
        <TrackFilter timeline={timeline} input={filterInput} leave={leave} />
      </div>
      <div style={{ height: `${RULER_HEIGHT}px` }}>
        <span title="Length of the visible range">{windowLength(scene)} shown</span>
        <span title="Start of the ruler's labels">{rulerBase(scene)}</span>
      </div>
      {notes.length > 0 && <div style={{ height: `${NOTES_HEIGHT}px` }}>notes</div>}
      {timeline.findings.hasMarkers && (
        <div style={{ height: `${FINDINGS_HEIGHT}px` }}>{formatPlural(findings.length, "finding")}</div>
      )}
      {timeline.overview.iterations.length > 0 && <div style={{ height: `${ITERATIONS_HEIGHT}px` }}>iterations</div>}
    </div>
  );
}

function Said({ timeline }: { timeline: Timeline }): JSX.Element {
  const said = useCell(timeline.said);
  return (
    <div class="ks-said" aria-live="polite">
      {said}
    </div>
  );
}

function ErrorBar({ timeline }: { timeline: Timeline }): JSX.Element | null {
  const error = useCell(timeline.error);
  if (error === null) return null;
  return (
    <div class="ks-error" role="alert">
      <span>{error}</span>
      <IconButton icon="close" label="Close the message (Escape)" onClick={() => timeline.error.set(null)} />
    </div>
  );
}

function Empty({ timeline, title }: { timeline: Timeline; title: string }): JSX.Element {
  const { health } = timeline.overview;
  return (
    <div class="ks-message">
      <strong>{title} has no events with a duration.</strong>
      <p>The profiler probably stopped before its first active step. Record again with a schedule that includes one.</p>
      {health.map((defect) => (
        <p key={defect.message}>
          {defect.count} × {defect.message}
        </p>
      ))}
    </div>
  );
}
