//! Searches events by text.

use std::ops::Range;

use serde_json::{Value, json};

use super::pixel::PixelScale;
use super::request::{SearchRequest, TimeWindow};
use super::response::{ColumnData, Response};
use super::screen::Screen;
use super::session_trace::TraceView;
use super::term::{SearchTerm, terms};
use crate::error::Error;
use crate::id::StrId;
use crate::label::Label;
use crate::sort;
use crate::time::TimeRange;
use crate::trace::args::plain_text;

/// Hits in the order of time, from a place among them or from a time on.
pub(super) fn answer(screen: &Screen<'_>, request: &SearchRequest) -> Response {
    let (terms, mut num_hidden) = (terms(&request.text), 0);
    let mut all: Vec<(usize, usize)> = Vec::new();
    for part in screen.parts.iter().copied() {
        let hits = SearchHits::of(part, &terms);
        let found = (0..part.linked.trace.events.len()).filter(|row| hits.has(*row));
        let (shown, hidden): (Vec<_>, Vec<_>) = found.partition(|row| part.is_shown(*row));
        num_hidden += hidden.len();
        all.extend(shown.into_iter().map(|row| (part.at, row)));
    }
    let start = |(part, row): (usize, usize)| {
        let part = screen.parts[part];
        part.linked.trace.events.start.at(row).since(part.zero)
    };
    sort::by_key(&mut all, |hit| start(*hit));
    let from = |time: f64| all.partition_point(|hit| (start(*hit).0 as f64) < time);
    let first = request.start.map_or(request.from, from).min(all.len());
    let mut columns = HitColumns::default();
    all[first..].iter().take(request.limit).for_each(|(part, row)| columns.push(screen.parts[*part], *row));
    let name = match terms.as_slice() {
        [SearchTerm::Name(name)] => Some(name),
        _ => None,
    };
    columns.response("search", &json!({"count": all.len(), "num_hidden": num_hidden, "first": first, "name": name}))
}

/// Where hits lie, for as many pixels as there are.
pub(super) fn marks(screen: &Screen<'_>, text: &str, window: TimeWindow) -> Result<Response, Error> {
    let TimeWindow { start, end, pixels } = window.expect_some()?;
    let (terms, mut columns) = (terms(text), HitColumns::default());
    for part in screen.parts.iter().copied() {
        let (hits, window) = (SearchHits::of(part, &terms), part.time_range(start, end));
        let lanes = |track| (0..part.lanes().num_lanes(track)).map(move |lane| (track, lane));
        for lane in (0..part.linked.trace.tracks.len()).flat_map(lanes) {
            mark_lane(&mut columns, lane, (window, PixelScale::new(part, window, pixels)), &hits);
        }
    }
    Ok(columns.response("marks", &json!({})))
}

/// Of the hits of a lane that are narrower than a pixel, one for each pixel.
fn mark_lane(
    columns: &mut HitColumns,
    (track, lane): (usize, usize),
    (window, pixels): (TimeRange, PixelScale),
    hits: &SearchHits<'_>,
) {
    let part = hits.part;
    let (events, lanes) = (&part.linked.trace.events, part.lanes());
    let places = lanes.lane(track, lane);
    let mut at = lanes.first(places.clone(), |row| events.end(row) >= window.start);
    while at < places.end && events.start.at(lanes.row(at)) < window.end {
        let row = lanes.row(at);
        if hits.has(row) {
            columns.push(part, row);
            at = pixels.next(part, at..places.end);
        } else {
            at += 1;
        }
    }
}

#[derive(Debug, Default)]
struct HitColumns {
    starts: Vec<f64>,
    durs: Vec<f64>,
    ids: Vec<u32>,
    tracks: Vec<u32>,
    lanes: Vec<u32>,
}

impl HitColumns {
    fn push(&mut self, part: TraceView<'_>, row: usize) {
        let events = &part.linked.trace.events;
        self.starts.push(part.offset(events.start.at(row)));
        self.durs.push(events.dur.at(row).0 as f64);
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

/// The events of a part that have all terms of a text.
#[derive(Debug)]
pub(super) struct SearchHits<'a> {
    part: TraceView<'a>,
    /// Whether an event of each name may be one.
    names: Vec<bool>,
    tests: Vec<EventTest>,
}

/// A condition checked for each event.
#[derive(Debug)]
enum EventTest {
    Dur(Range<i64>),
    Kind(String),
    Category(Vec<bool>),
    Id(u32),
    /// Texts that are the key, and names that pass without.
    Arg {
        keys: Vec<bool>,
        value: String,
        names: Vec<bool>,
    },
}

impl<'a> SearchHits<'a> {
    pub(super) fn of(part: TraceView<'a>, terms: &[SearchTerm]) -> Self {
        let strings = &part.linked.trace.strings;
        let mut hits = Self { part, names: vec![!terms.is_empty(); strings.len()], tests: Vec::new() };
        let equal = |text: &str| strings.iter().map(|known| known.to_lowercase() == text).collect();
        for term in terms {
            hits.tests.push(match term {
                SearchTerm::Name(text) => {
                    hits.names.iter_mut().zip(holding(part, text)).for_each(|(is_hit, holds)| *is_hit &= holds);
                    continue;
                }
                SearchTerm::Dur(durs) => EventTest::Dur(durs.clone()),
                SearchTerm::Kind(kind) => EventTest::Kind(kind.clone()),
                SearchTerm::Category(category) => EventTest::Category(equal(category)),
                SearchTerm::Id(id) => EventTest::Id(*id),
                SearchTerm::Arg { key, value, text } => {
                    EventTest::Arg { keys: equal(key), value: value.clone(), names: holding(part, text) }
                }
            });
        }
        hits
    }

    pub(super) fn has(&self, row: usize) -> bool {
        has(&self.names, self.part.linked.trace.events.name.at(row))
            && self.tests.iter().all(|test| self.passes(row, test))
    }

    fn passes(&self, row: usize, test: &EventTest) -> bool {
        let (part, trace) = (self.part, &self.part.part().linked.trace);
        let events = &trace.events;
        match test {
            EventTest::Dur(durs) => durs.contains(&events.dur.at(row).0),
            EventTest::Kind(kind) => part.shown_kind(row).name() == kind,
            EventTest::Category(categories) => has(categories, events.category.at(row)),
            EventTest::Id(id) => part.id(row) == *id,
            EventTest::Arg { keys, value, names } => {
                let mut pairs = trace.args.pairs_of(&trace.strings, events.args(row), |key| has(keys, key));
                has(names, events.name.at(row)) || pairs.any(|(_, found)| plain_text(&found).to_lowercase() == *value)
            }
        }
    }
}

fn has(texts: &[bool], id: StrId) -> bool {
    texts.get(id.index()).copied().unwrap_or_default()
}

/// Names that contain a text in lower case, as such or in their labels.
fn holding(part: TraceView<'_>, text: &str) -> Vec<bool> {
    let holds = |name: &str| name.to_lowercase().contains(text);
    part.linked.trace.strings.iter().map(|name| holds(name) || holds(&Label::of(name).to_string())).collect()
}
