//! Draws a range of traces as an SVG picture, for pages without scripts.

use std::cmp::Reverse;
use std::fmt::Write as _;

use maud::{Markup, html};

use super::chart::time_ticks;
use super::overview::{display_order, part_name, track_name};
use super::screen::Screen;
use super::session_trace::TraceView;
use super::shown_kind::ShownKind;
use super::svg::Px;
use super::tiles::{TimelineTile, tiles};
use crate::sort;
use crate::time::{TimeRange, sum_ns};
use crate::trace::kind::EventKind;

const GUTTER: u32 = 150;
const LANE_HEIGHT: u32 = 5;
const TRACK_GAP: u32 = 6;
/// Height of the name of a trace, above its tracks.
const NAME_HEIGHT: u32 = 17;
/// Height of the time axis, below all tracks.
const AXIS_HEIGHT: u32 = 18;
/// Room for a label of the axis, in pixels.
const LABEL_WIDTH: f64 = 48.0;
const MAX_TRACKS: usize = 16;
const MAX_LANES: usize = 6;
/// Columns of the picture, limited to keep the page small.
const COLUMNS: u32 = 360;

/// Colours of the kinds by code, as in the light theme of the timeline; style sheets may override
/// them by class.
const COLOURS: [&str; EventKind::ALL.len() + 1] = [
    "#95d1fa", "#ffb369", "#9ad6a6", "#a478c9", "#d8c2f5", "#d67359", "#8d949a", "#cccbb5", "#b5a4a3", "#b8bbc0",
    "#61aaff",
];

/// The scale from time to pixels.
#[derive(Clone, Copy)]
struct PictureScale {
    start: f64,
    end: f64,
    /// Pixels for a nanosecond.
    scale: f64,
}

impl PictureScale {
    /// The left end and the width of a time range, clipped to the picture.
    fn across(self, start: f64, end: f64) -> (f64, f64) {
        let (start, end) = (start.max(self.start), end.min(self.end));
        (f64::from(GUTTER) + (start - self.start) * self.scale, ((end - start) * self.scale).max(0.5))
    }
}

/// Draws the first lanes of each track for a range of time.
pub(super) fn draw(screen: &Screen<'_>, (start, end): (f64, f64), width: u32) -> Markup {
    let width = width.clamp(GUTTER + 100, 4000);
    let room = (MAX_TRACKS / screen.parts.len().max(1)).max(1);
    let orders = || screen.parts.iter().map(|part| (*part, display_order(*part)));
    let num_tracks: usize = orders().map(|(_, order)| order.len()).sum();
    let chosen =
        orders().flat_map(|(part, order)| busiest(part, order, room).into_iter().map(move |track| (part, track)));
    let chosen: Vec<(TraceView<'_>, usize)> = chosen.take(MAX_TRACKS).collect();
    let place = PictureScale { start, end, scale: f64::from(width - GUTTER) / (end - start).max(1.0) };
    let mut drawn = Vec::new();
    let mut y = 2;
    let mut last = None;
    for (part, track) in &chosen {
        if screen.parts.len() > 1 && last.replace(part.at) != Some(part.at) {
            drawn.push(text(y + 10, &part_name(*part)));
            y += NAME_HEIGHT;
        }
        let (track, bottom) = draw_track(*part, *track, y, place);
        drawn.push(track);
        y = bottom + TRACK_GAP;
    }
    if num_tracks > chosen.len() {
        drawn.push(text(y + 8, &format!("and {} more tracks", num_tracks - chosen.len())));
        y += 14;
    }
    drawn.push(axis(y, f64::from(width - GUTTER), (start, end)));
    y += AXIS_HEIGHT;
    html! {
        svg class="ks-picture" viewBox={ "0 0 " (width) " " (y) } width="100%" role="img"
            aria-label={ "Timeline of " (num_tracks) " tracks" } {
            @for track in drawn { (track) }
        }
    }
}

/// The time since the start of the picture, below the tracks.
fn axis(top: u32, pixels: f64, (start, end): (f64, f64)) -> Markup {
    let ticks = time_ticks(end - start, pixels);
    // The last label would leave the picture.
    let ticks = ticks.into_iter().filter(|(x, _)| *x <= pixels - LABEL_WIDTH);
    html! {
        g font-size="10" fill="currentColor" font-family="system-ui,sans-serif" {
            path d={ "M" (GUTTER) " " (top) "h" (pixels) } stroke="currentColor" stroke-opacity=".4" fill="none" {}
            @for (x, label) in ticks {
                @let x = f64::from(GUTTER) + x;
                path d={ "M" (Px(x)) " " (top) "v4" } stroke="currentColor" stroke-opacity=".4" {}
                text x=(Px(x + 2.0)) y=(top + 13) fill-opacity=".75" { (label) }
            }
        }
    }
}

/// The tracks of a part for which there is room, in display order. Chooses the busiest stream, the
/// busiest thread, the next stream, and so on.
fn busiest(part: TraceView<'_>, order: Vec<usize>, room: usize) -> Vec<usize> {
    let linked = &part.part().linked;
    let num_events = |track: usize| linked.links.nesting.track_rows(track.into()).len();
    let mut places: Vec<_> = order.iter().map(|track| (Reverse(num_events(*track)), *track)).collect();
    sort::ascending(&mut places);
    let mut num_before = [0_usize; 2];
    let mut places: Vec<_> = places
        .into_iter()
        .map(|(_, track)| {
            let is_thread = linked.trace.tracks[track].stream.is_none();
            num_before[usize::from(is_thread)] += 1;
            (num_before[usize::from(is_thread)], is_thread, track)
        })
        .collect();
    sort::ascending(&mut places);
    places.truncate(room);
    order.into_iter().filter(|track| places.iter().any(|(.., kept)| kept == track)).collect()
}

/// Draws a track with its name; also returns the lower edge.
fn draw_track(part: TraceView<'_>, track: usize, top: u32, place: PictureScale) -> (Markup, u32) {
    let trace = &part.linked.trace;
    let lanes = chosen_lanes(part, track, part.time_range(place.start, place.end));
    let bottom = top + (lanes.len() as u32 * LANE_HEIGHT).max(10);
    let mut paths: [String; COLOURS.len()] = Default::default();
    for (lane, tiles) in lanes.iter().enumerate() {
        let y = top + lane as u32 * LANE_HEIGHT;
        for tile in tiles {
            let (x, wide) = place.across(part.offset(tile.time.start), part.offset(tile.time.end));
            let path = &mut paths[usize::from(part.shown_kind(tile.row).code())];
            // Writing into a `String` cannot fail.
            let _ = write!(path, "M{x:.1} {y}h{wide:.1}v4h-{wide:.1}z");
        }
    }
    let kinds = ShownKind::names().into_iter().zip(COLOURS).zip(&paths).filter(|(_, path)| !path.is_empty());
    let markup = html! {
        (text(u32::midpoint(top, bottom) + 3, &track_name(trace, &trace.tracks[track])))
        @for ((name, colour), path) in kinds { path class={ "ks-kind-" (name) } fill=(colour) d=(path) {} }
    };
    (markup, bottom)
}

/// The first lanes that are not mostly Python frames, which are too small to read here; the first
/// lanes of all if every lane is.
fn chosen_lanes(part: TraceView<'_>, track: usize, window: TimeRange) -> Vec<Vec<TimelineTile>> {
    let num_lanes = part.lanes().num_lanes(track);
    let lane = |lane| tiles(part, (track, lane), window, COLUMNS);
    let kinds = &part.linked.trace.events.kind;
    let is_telling = |tiles: &Vec<TimelineTile>| {
        let time = |is_python: bool| {
            let same = tiles.iter().filter(|tile| (kinds[tile.row] == EventKind::Python) == is_python);
            sum_ns(same.map(|tile| tile.time.dur().0))
        };
        time(false) > time(true)
    };
    let telling: Vec<_> = (0..num_lanes).map(lane).filter(is_telling).take(MAX_LANES).collect();
    if telling.is_empty() { (0..num_lanes.min(MAX_LANES)).map(lane).collect() } else { telling }
}

fn text(y: u32, text: &str) -> Markup {
    let is_long = text.chars().count() > 24;
    let short: String = if is_long { text.chars().take(23).chain(['…']).collect() } else { text.into() };
    html! {
        text x="0" y=(y) font-size="10" fill="currentColor" font-family="system-ui,sans-serif" { (short) }
    }
}
