//! Events whose name, or the label shown for it, holds a text.

use serde_json::{Value, json};

use super::part::View;
use super::pixel::Pixels;
use super::request::{SearchRequest, Window};
use super::response::{ColumnData, Response};
use super::screen::Screen;
use crate::error::Error;
use crate::label::Label;
use crate::sort;
use crate::time::TimeRange;

/// Hits in the order of time, from a place among them or from a time on.
pub(super) fn answer(screen: &Screen<'_>, request: &SearchRequest) -> Response {
    let mut num_hidden = 0;
    let mut all: Vec<(usize, usize)> = Vec::new();
    for part in screen.parts.iter().copied() {
        let names = Names::holding(part, &request.text);
        let found = (0..part.linked.trace.events.len()).filter(|row| names.has(part, *row));
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
        let (names, window) = (Names::holding(part, text), part.time_range(start, end));
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
    names: &Names,
) {
    let (events, lanes) = (&part.linked.trace.events, part.lanes());
    let places = lanes.lane(track, lane);
    let mut at = lanes.first(places.clone(), |row| events.end(row) >= window.start);
    while at < places.end && events.start[lanes.row(at)] < window.end {
        let row = lanes.row(at);
        if names.has(part, row) {
            columns.push(part, row);
            at = pixels.next(part, at..places.end);
        } else {
            at += 1;
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

/// Which of the names in a part hold a text, which is not empty, by themselves or in what bars show of them.
#[derive(Debug)]
struct Names(Vec<bool>);

impl Names {
    fn holding(part: View<'_>, text: &str) -> Self {
        let text = text.to_lowercase();
        let holds = |name: &str| name.to_lowercase().contains(&text);
        let is_match = |name: &str| !text.is_empty() && (holds(name) || holds(&Label::of(name).to_string()));
        Self(part.linked.trace.strings.iter().map(is_match).collect())
    }

    /// Whether an event has one of them.
    fn has(&self, part: View<'_>, row: usize) -> bool {
        self.0.get(part.linked.trace.events.name[row].index()).copied().unwrap_or_default()
    }
}
