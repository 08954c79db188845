//! Answers rectangles to draw: one for each event of a pixel or more, one for each group of
//! narrower neighbours.

use rustc_hash::FxHashMap;
use serde_json::json;

use super::labels::label;
use super::owner::OwnerCodes;
use super::pixel::PixelScale;
use super::request::{TilesRequest, TimeWindow};
use super::response::{ColumnData, Response};
use super::screen::Screen;
use super::session_trace::TraceView;
use crate::error::Error;
use crate::id::StrId;
use crate::time::TimeRange;

/// A rectangle: one event, or several that share a pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TimelineTile {
    /// Row of the event, or of the longest one.
    pub(super) row: usize,
    /// From the first start to the last end.
    pub(super) time: TimeRange,
    /// How many events it stands for.
    pub(super) count: u32,
}

pub(super) fn answer(screen: &Screen<'_>, request: &TilesRequest) -> Result<Response, Error> {
    let TimeWindow { start, end, pixels } = request.window.expect_some()?;
    let mut columns = TileColumns { owners: request.by.map(OwnerCodes::new), ..TileColumns::default() };
    for track in &request.tracks {
        let Some((part, own)) = screen.track(*track) else { continue };
        let window = part.time_range(start, end);
        for lane in 0..part.lanes().num_lanes(own) {
            let tiles = tiles(part, (own, lane), window, pixels);
            tiles.into_iter().for_each(|tile| columns.push(part, *track, lane, tile));
        }
    }
    Ok(columns.response())
}

/// The rectangles of one lane, in the order of time.
pub(super) fn tiles(part: TraceView<'_>, lane: (usize, usize), window: TimeRange, pixels: u32) -> Vec<TimelineTile> {
    let (events, lanes) = (&part.linked.trace.events, part.lanes());
    let places = lanes.lane(lane.0, lane.1);
    let pixels = PixelScale::new(part, window, pixels);
    let mut tiles = Vec::new();
    let mut at = lanes.first(places.clone(), |row| events.end(row) >= window.start);
    while at < places.end && events.start.at(lanes.row(at)) < window.end {
        let row = lanes.row(at);
        let next = pixels.next(part, at..places.end);
        let time = TimeRange { start: events.start.at(row), end: events.end(lanes.row(next - 1)) };
        tiles.push(TimelineTile { row: lanes.longest(&part.linked, at..next), time, count: (next - at) as u32 });
        at = next;
    }
    tiles
}

#[derive(Debug, Default)]
struct TileColumns<'a> {
    tracks: Vec<u32>,
    lanes: Vec<u32>,
    starts: Vec<f64>,
    durs: Vec<f64>,
    kinds: Vec<u8>,
    ids: Vec<u32>,
    counts: Vec<u32>,
    names: Vec<u32>,
    texts: Vec<&'a str>,
    by_name: FxHashMap<(usize, StrId), u32>,
    owners: Option<OwnerCodes<'a>>,
}

impl<'a> TileColumns<'a> {
    fn push(&mut self, part: TraceView<'a>, track: u32, lane: usize, tile: TimelineTile) {
        let (events, texts) = (&part.linked.trace.events, &mut self.texts);
        let name = *self.by_name.entry((part.at, events.name.at(tile.row))).or_insert_with(|| {
            texts.push(part.part().linked.trace.event_name(tile.row));
            texts.len() as u32 - 1
        });
        self.tracks.push(track);
        self.lanes.push(lane as u32);
        self.starts.push(part.offset(tile.time.start));
        self.durs.push(tile.time.dur().0 as f64);
        self.kinds.push(part.shown_kind(tile.row).code());
        self.ids.push(part.id(tile.row));
        self.counts.push(tile.count);
        self.names.push(name);
        if let Some(owners) = &mut self.owners {
            owners.push(part, tile.row);
        }
    }

    fn response(self) -> Response {
        let labels: Vec<_> = self.texts.iter().map(|name| label(name)).collect();
        let (mut data, mut columns) = (json!({"names": self.texts, "labels": labels}), Vec::new());
        if let Some(owners) = self.owners {
            data["owners"] = json!(owners.names);
            columns.push(("owner", ColumnData::U32(owners.codes)));
        }
        columns.extend([
            ("start", ColumnData::F64(self.starts)),
            ("dur", ColumnData::F64(self.durs)),
            ("track", ColumnData::U32(self.tracks)),
            ("lane", ColumnData::U32(self.lanes)),
            ("id", ColumnData::U32(self.ids)),
            ("count", ColumnData::U32(self.counts)),
            ("name", ColumnData::U32(self.names)),
            ("kind", ColumnData::U8(self.kinds)),
        ]);
        Response::of("tiles", &data).with_columns(columns)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Session;
    use super::super::align::TimeAlignment;
    use super::*;
    use crate::link::LinkedTrace;
    use crate::read::{Input, Limits, read};

    fn session(events: &[(i64, i64)]) -> Session {
        let event = |(start, dur): &(i64, i64)| {
            format!(r#"{{"ph":"X","name":"e","pid":1,"tid":1,"ts":{start}.0,"dur":{dur}.0}}"#)
        };
        let json = format!("[{}]", events.iter().map(event).collect::<Vec<_>>().join(","));
        Session::new(LinkedTrace::new(read([Input::new(json.as_bytes())], Limits::default()).unwrap()))
    }

    fn part(session: &Session) -> TraceView<'_> {
        Screen::new(session, TimeAlignment::Start, true).parts[0]
    }

    #[test]
    fn no_event_is_left_out_and_few_rectangles_are_drawn() {
        let events: Vec<_> = (0..100_000).map(|at| (at * 10, 1 + at % 9)).collect();
        let session = session(&events);
        let tiles = tiles(part(&session), (0, 0), part(&session).range, 500);
        assert!(tiles.len() <= 2 * 500 + 2, "{}", tiles.len());
        assert_eq!(tiles.iter().map(|tile| tile.count).sum::<u32>(), 100_000);
    }

    #[test]
    fn wide_events_are_drawn_exactly() {
        let session = session(&[(0, 1), (2, 1), (100, 500), (700, 300)]);
        let tiles = tiles(part(&session), (0, 0), part(&session).range, 100);
        let drawn: Vec<_> = tiles.iter().map(|tile| (tile.row, tile.time.dur().0, tile.count)).collect();
        assert_eq!(drawn, [(0, 3_000, 2), (2, 500_000, 1), (3, 300_000, 1)]);
    }
}
