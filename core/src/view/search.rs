//! Events whose name holds a text.

use rustc_hash::FxHashSet;
use serde_json::json;

use super::part::View;
use super::response::{ColumnData, Response};
use super::screen::Screen;
use crate::id::StrId;
use crate::sort;

pub(super) fn answer(screen: &Screen<'_>, text: &str, limit: usize) -> Response {
    let text = text.to_lowercase();
    let mut num_hidden = 0;
    let mut all: Vec<(usize, usize)> = Vec::new();
    for part in screen.parts.iter().copied() {
        let (shown, hidden): (Vec<_>, Vec<_>) = found(part, &text).into_iter().partition(|row| part.is_shown(*row));
        num_hidden += hidden.len();
        all.extend(shown.into_iter().map(|row| (part.at, row)));
    }
    let start = |(part, row): (usize, usize)| {
        let part = screen.parts[part];
        part.linked.trace.events.start[row].since(part.zero)
    };
    sort::by_key(&mut all, |hit| start(*hit));
    let count = all.len();
    all.truncate(limit);
    let mut columns = Columns::default();
    all.into_iter().for_each(|(part, row)| columns.push(screen.parts[part], row));
    Response::of("search", &json!({"count": count, "num_hidden": num_hidden})).with_columns(vec![
        ("start", ColumnData::F64(columns.starts)),
        ("dur", ColumnData::F64(columns.durs)),
        ("id", ColumnData::U32(columns.ids)),
        ("track", ColumnData::U32(columns.tracks)),
        ("lane", ColumnData::U32(columns.lanes)),
    ])
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
}

/// Rows of the events of a part whose name holds a text, which is not empty.
fn found(part: View<'_>, text: &str) -> Vec<usize> {
    let trace = &part.linked.trace;
    let is_match = |(_, name): &(usize, &str)| !text.is_empty() && name.to_lowercase().contains(text);
    let names: FxHashSet<StrId> = trace.strings.iter().enumerate().filter(is_match).map(|(id, _)| id.into()).collect();
    (0..trace.events.len()).filter(|row| names.contains(&trace.events.name[*row])).collect()
}
