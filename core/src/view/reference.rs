//! An event in short, and the events inside of it.

use serde_json::{Value, json};

use super::session_trace::TraceView;
use crate::label::Label;

/// An event in short.
pub(super) fn reference(part: TraceView<'_>, row: usize) -> Value {
    let events = &part.linked.trace.events;
    let name = part.linked.trace.event_name(row);
    json!({
        "id": part.id(row),
        "name": name,
        "label": Label::of(name).to_string(),
        "kind": part.shown_kind(row).name(),
        "track": part.track(row),
        "lane": part.lane(row),
        "start": part.offset(events.start.at(row)),
        "dur": events.dur.at(row).0 as f64,
    })
}

/// Events of the same track that start in this one, itself among them.
pub(super) fn inside(part: TraceView<'_>, row: usize) -> impl Iterator<Item = usize> {
    let linked = &part.part().linked;
    let (events, nesting) = (&linked.trace.events, &linked.links.nesting);
    let rows = nesting.track_rows(events.track.at(row));
    let first = rows.partition_point(|other| events.start.at(*other as usize) < events.start.at(row));
    let end = events.end(row);
    rows[first..].iter().map(|row| *row as usize).take_while(move |other| events.start.at(*other) <= end)
}
