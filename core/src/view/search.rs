//! Events whose name holds a text.

use rustc_hash::FxHashSet;
use serde_json::json;

use super::Session;
use super::response::{ColumnData, Response};
use crate::id::StrId;
use crate::sort;

pub(super) fn answer(session: &Session, text: &str, limit: usize) -> Response {
    let trace = &session.linked.trace;
    let events = &trace.events;
    let text = text.to_lowercase();
    let is_match = |(_, name): &(usize, &str)| !text.is_empty() && name.to_lowercase().contains(&text);
    let names: FxHashSet<StrId> = trace.strings.iter().enumerate().filter(is_match).map(|(id, _)| id.into()).collect();
    let mut rows: Vec<usize> = (0..events.len()).filter(|row| names.contains(&events.name[*row])).collect();
    sort::by_key(&mut rows, |row| events.start[*row]);
    let count = rows.len();
    rows.truncate(limit);
    Response::of("search", &json!({"count": count})).with_columns(vec![
        ("start", ColumnData::F64(rows.iter().map(|row| session.offset(events.start[*row])).collect())),
        ("dur", ColumnData::F64(rows.iter().map(|row| events.dur[*row].0 as f64).collect())),
        ("id", ColumnData::U32(rows.iter().map(|row| events.position[*row]).collect())),
        ("track", ColumnData::U32(rows.iter().map(|row| events.track[*row].0).collect())),
        ("lane", ColumnData::U32(rows.iter().map(|row| session.linked.lanes()[*row]).collect())),
    ])
}
