//! Measures how much of each communication computation hides.

use std::collections::BTreeMap;

use super::class::{WorkClass, classes};
use super::communication::CommunicationNames;
use super::interval::RangeCover;
use super::overlap::{CommunicationOwner, computing};
use super::selection::Selection;
use crate::sort;
use crate::table::{Column, Table, int, put_name, text};
use crate::trace::step_name::Phase;

/// A device event that communicates.
#[derive(Debug, Clone)]
pub(super) struct ExposedCallRow {
    id: u32,
    device: Option<i64>,
    collective: String,
    module: String,
    annotation: String,
    iteration: Option<i64>,
    phase: Option<Phase>,
    total_ns: i64,
    hidden_ns: i64,
}

pub(super) static TABLE: Table<Vec<ExposedCallRow>> = Table {
    name: "overlap_calls",
    doc: "a device event that communicates, with the part that computation hides",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<ExposedCallRow>>] = &[
    int("id", |rows, at| Some(i64::from(rows[at].id))),
    int("device", |rows, at| rows[at].device),
    text("collective", |rows, at, out| put_name(out, &rows[at].collective)),
    text("module", |rows, at, out| put_name(out, &rows[at].module)),
    text("annotation", |rows, at, out| put_name(out, &rows[at].annotation)),
    int("iteration", |rows, at| rows[at].iteration),
    text("phase", |rows, at, out| rows[at].phase.is_some_and(|phase| put_name(out, phase.name()))),
    int("total_ns", |rows, at| Some(rows[at].total_ns)),
    int("hidden_ns", |rows, at| Some(rows[at].hidden_ns)),
    int("exposed_ns", |rows, at| Some(rows[at].total_ns - rows[at].hidden_ns)),
];

/// The selected communications of all devices, the most exposed first.
pub(super) fn exposed_calls(selection: &Selection<'_>) -> Vec<ExposedCallRow> {
    let (linked, trace) = (selection.linked, &selection.linked.trace);
    let classes = classes(linked);
    let names = CommunicationNames::of(linked);
    let covers: BTreeMap<_, _> = computing(selection, &classes)
        .into_iter()
        .map(|(device, ranges)| (device, RangeCover::disjoint(ranges)))
        .collect();
    let row = |row: usize| {
        let (device, time) = (trace.device(row), selection.time(row));
        let iteration = linked.links.iteration.get(row).map(|at| linked.links.iterations[at as usize]);
        ExposedCallRow {
            id: trace.events.position.at(row),
            device,
            collective: names.name(row as u32).into_owned(),
            module: CommunicationOwner::Module.name(linked, row),
            annotation: CommunicationOwner::Annotation.name(linked, row),
            iteration: iteration.map(|iteration| iteration.number),
            phase: iteration.and_then(|iteration| iteration.facts.phase),
            total_ns: selection.dur_ns(row),
            hidden_ns: covers.get(&device).map_or(0, |cover| cover.inside_ns(time)),
        }
    };
    let rows = selection.device_work().filter(|row| classes[*row] == WorkClass::Communication);
    let mut rows: Vec<_> = rows.map(row).collect();
    sort::by_key(&mut rows, |row| (std::cmp::Reverse(row.total_ns - row.hidden_ns), row.id));
    rows
}
