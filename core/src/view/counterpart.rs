//! Finds the event of one compared trace in the other.

use serde_json::{Value, json};

use super::reference::reference;
use super::screen::Screen;
use super::session_trace::TraceView;
use crate::link::LinkedTrace;
use crate::sort;

/// The event with the same name and the same place among its like, in the iteration with the same
/// place, of the other trace; null where no two traces are compared, or it has none.
pub(super) fn counterpart(screen: &Screen<'_>, part: TraceView<'_>, row: usize) -> Value {
    let [before, after] = match screen.members() {
        [before, after] if before.rank == after.rank && part.at <= after.at => [*before, *after],
        _ => return Value::Null,
    };
    let (role, other) = if part.at == before.at { ("after", after) } else { ("before", before) };
    let found = find(&part.linked, row, &other.linked);
    found.map_or(Value::Null, |row| json!({"role": role, "event": reference(other, row)}))
}

fn find(linked: &LinkedTrace, row: usize, other: &LinkedTrace) -> Option<usize> {
    let iteration = linked.links.iteration.get(row);
    let (name, kind) = (linked.trace.event_name(row), linked.trace.events.kind[row]);
    let name_there = other.trace.strings.iter().position(|text| text == name)?;
    let of = |linked: &'_ LinkedTrace, name: usize| {
        let events = &linked.trace.events;
        let is_like = |row: &usize| {
            events.name.at(*row).index() == name
                && events.kind[*row] == kind
                && linked.links.iteration.get(*row) == iteration
        };
        let mut rows: Vec<usize> = (0..events.len()).filter(is_like).collect();
        sort::by_key(&mut rows, |row| (events.start.at(*row), *row));
        rows
    };
    let own = of(linked, linked.trace.events.name.at(row).index());
    let place = own.iter().position(|like| *like == row)?;
    of(other, name_there).get(place).copied()
}
