//! Selects rows of the event table: a range of time, or an event with its children.

use std::sync::Arc;

use super::selection::Selection;
use crate::link::LinkedTrace;
use crate::table::{EVENTS, PickedRows, TableRows};
use crate::time::TimeRange;

/// Events of which a part is in the range, in the order of the file: those that the viewer counts
/// for it.
pub fn events_within(linked: &Arc<LinkedTrace>, range: TimeRange) -> Arc<dyn TableRows> {
    picked(linked, Selection::within(linked, Some(range)).rows())
}

/// An event, its children on the track, and the device work launched inside, in file order. No rows
/// for an unknown event.
pub fn events_inside(linked: &Arc<LinkedTrace>, id: Option<u32>) -> Arc<dyn TableRows> {
    let (links, events) = (&linked.links, &linked.trace.events);
    let mut is_inside = vec![false; events.len()];
    if let Some(row) = id.and_then(|id| events.row_at(id)) {
        is_inside[row] = true;
    }
    // Parents come before their children in this order.
    for row in links.nesting.order.iter().map(|row| *row as usize) {
        is_inside[row] |= links.nesting.parent.get(row).is_some_and(|parent| is_inside[parent as usize]);
    }
    let is_launched = |row: usize| links.launch.get(row).is_some_and(|launch| is_inside[launch as usize]);
    picked(linked, (0..events.len()).filter(|row| is_inside[*row] || is_launched(*row)))
}

fn picked(linked: &Arc<LinkedTrace>, rows: impl Iterator<Item = usize>) -> Arc<dyn TableRows> {
    PickedRows::of(EVENTS.of(linked), rows.map(|row| row as u32).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{Input, Limits, read};
    use crate::table::ColumnValues;
    use crate::time::Ts;

    const JSON: &[u8] = br#"[
        {"ph":"X","cat":"cpu_op","name":"outer","pid":1,"tid":1,"ts":0,"dur":100},
        {"ph":"X","cat":"cpu_op","name":"inner","pid":1,"tid":1,"ts":10,"dur":50},
        {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":20,"dur":5,"args":{"correlation":7}},
        {"ph":"X","cat":"cpu_op","name":"other","pid":1,"tid":1,"ts":70,"dur":20},
        {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":200,"dur":40,"args":{"correlation":7,"stream":7}}
    ]"#;

    fn linked() -> Arc<LinkedTrace> {
        Arc::new(LinkedTrace::new(read([Input::new(JSON)], Limits::default()).unwrap()))
    }

    fn names(rows: &dyn TableRows) -> Vec<String> {
        let column = (0..rows.num_columns()).find(|column| rows.column_name(*column) == "name").unwrap();
        let ColumnValues::Text { bytes, ends, .. } = rows.values(column, 0..rows.num_rows()) else {
            panic!("names are texts")
        };
        let starts = std::iter::once(0).chain(ends.iter().copied());
        starts.zip(&ends).map(|(start, end)| bytes[start..*end].to_owned()).collect()
    }

    #[test]
    fn an_event_brings_what_is_inside_and_what_that_launched() {
        assert_eq!(names(&*events_inside(&linked(), Some(1))), ["inner", "cudaLaunchKernel", "gemm"]);
        assert_eq!(names(&*events_inside(&linked(), Some(4))), ["gemm"]);
        assert!(names(&*events_inside(&linked(), Some(99))).is_empty());
        assert!(names(&*events_inside(&linked(), None)).is_empty());
    }

    #[test]
    fn a_range_has_what_any_part_of_is_in_it() {
        let range = |start, end| TimeRange { start: Ts(start), end: Ts(end) };
        assert_eq!(names(&*events_within(&linked(), range(65_000, 80_000))), ["outer", "other"]);
        assert!(names(&*events_within(&linked(), range(300_000, 400_000))).is_empty());
    }
}
