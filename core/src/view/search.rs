//! Events whose name holds a text.

use rustc_hash::FxHashSet;
use serde_json::{Value, json};

use super::part::View;
use super::pixel::Pixels;
use super::request::{SearchRequest, Window};
use super::response::{ColumnData, Response};
use super::screen::Screen;
use crate::error::Error;
use crate::id::StrId;
use crate::sort;
use crate::time::TimeRange;

/// Hits in the order of time, from a place among them or from a time on.
pub(super) fn answer(screen: &Screen<'_>, request: &SearchRequest) -> Response {
    let mut num_hidden = 0;
    let mut all: Vec<(usize, usize)> = Vec::new();
    for part in screen.parts.iter().copied() {
        let names = names(part, &request.text);
        let events = &part.linked.trace.events;
        let found = (0..events.len()).filter(|row| names.contains(&events.name[*row]));
        let (shown, hidden): (Vec<_>, Vec<_>) = found.partition(|row| part.is_shown(*row));
        num_hidden += hidden.len();
        all.extend(shown.into_iter().map(|row| (part.at, row)));
    }
    let start = |(part, row): (usize, usize)| {
        let part = screen.parts[part];
        part.linked.trace.events.start[row].since(part.zero)
    };
    sort::by_key(&mut all, |hit| start(*hit));
    let from = |time: f64| all.partition_point(|hit| (start(*hit).0 as f64) < time);
    let first = request.start.map_or(request.from, from).min(all.len());
    let mut columns = Columns::default();
    all[first..].iter().take(request.limit).for_each(|(part, row)| columns.push(screen.parts[*part], *row));
    columns.response("search", &json!({"count": all.len(), "num_hidden": num_hidden, "first": first}))
}

/// Where hits lie, for as many pixels as there are.
pub(super) fn marks(screen: &Screen<'_>, text: &str, window: Window) -> Result<Response, Error> {
    let Window { start, end, pixels } = window.expect_some()?;
    let mut columns = Columns::default();
    for part in screen.parts.iter().copied() {
        let (names, window) = (names(part, text), part.time_range(start, end));
        let lanes = |track| (0..part.lanes().num_lanes(track)).map(move |lane| (track, lane));
        for lane in (0..part.linked.trace.tracks.len()).flat_map(lanes) {
            mark_lane(&mut columns, part, lane, (window, Pixels::new(part, window, pixels)), &names);
        }
    }
    Ok(columns.response("marks", &json!({})))
}

/// Of the hits of a lane that are narrower than a pixel, one for each pixel.
fn mark_lane(
    columns: &mut Columns,
    part: View<'_>,
    (track, lane): (usize, usize),
    (window, pixels): (TimeRange, Pixels),
    names: &FxHashSet<StrId>,
) {
    let (events, lanes) = (&part.linked.trace.events, part.lanes());
    let places = lanes.lane(track, lane);
    let first = lanes.first(places.clone(), |row| events.end(row) >= window.start);
    let inside = (first..places.end).map(|at| lanes.row(at)).take_while(|row| events.start[*row] < window.end);
    let mut last = None;
    for row in inside.filter(|row| names.contains(&events.name[*row])) {
        let pixel = pixels.of(events.start[row]);
        if last.replace(pixel) != Some(pixel) || events.dur[row].0 >= pixels.pixel_ns {
            columns.push(part, row);
        }
    }
}

#[derive(Debug, Default)]
struct Columns {
    starts: Vec<f64>,
    durs: Vec<f64>,
    ids: Vec<u32>,
    tracks: Vec<u32>,
    lanes: Vec<u32>,
}

impl Columns {
    fn push(&mut self, part: View<'_>, row: usize) {
        let events = &part.linked.trace.events;
        self.starts.push(part.offset(events.start[row]));
        self.durs.push(events.dur[row].0 as f64);
        self.ids.push(part.id(row));
        self.tracks.push(part.track(row));
        self.lanes.push(part.lane(row));
    }

    fn response(self, name: &'static str, data: &Value) -> Response {
        Response::of(name, data).with_columns(vec![
            ("start", ColumnData::F64(self.starts)),
            ("dur", ColumnData::F64(self.durs)),
            ("id", ColumnData::U32(self.ids)),
            ("track", ColumnData::U32(self.tracks)),
            ("lane", ColumnData::U32(self.lanes)),
        ])
    }
}

/// The names in a part that hold a text, which is not empty.
fn names(part: View<'_>, text: &str) -> FxHashSet<StrId> {
    let text = text.to_lowercase();
    let is_match = |(_, name): &(usize, &str)| !text.is_empty() && name.to_lowercase().contains(&text);
    part.linked.trace.strings.iter().enumerate().filter(is_match).map(|(id, _)| id.into()).collect()
}
