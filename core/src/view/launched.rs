//! Answers the device work that an event launched.

use rustc_hash::FxHashSet;
use serde_json::{Value, json};

use super::reference::{inside, reference};
use super::session_trace::TraceView;

/// How many device events are listed.
const MAX_LISTED: usize = 100;

pub(super) fn launched(part: TraceView<'_>, row: usize) -> Value {
    let events = &part.linked.trace.events;
    let devices = devices(part, row);
    let listed: Vec<_> = devices.iter().take(MAX_LISTED).map(|row| reference(part, *row)).collect();
    let total_ns = devices.iter().fold(0_i64, |sum, row| sum.saturating_add(events.dur.at(*row).0));
    json!({
        "device_events": listed,
        "num_device_events": devices.len(),
        "launched_ns": total_ns.to_string(),
    })
}

/// In order of launches.
fn devices(part: TraceView<'_>, row: usize) -> Vec<usize> {
    let enclosed = part.linked.enclosed_work(row);
    enclosed.map_or_else(|| inside_of(part, row), |rows| rows.iter().map(|row| *row as usize).collect())
}

fn inside_of(part: TraceView<'_>, row: usize) -> Vec<usize> {
    let (events, links) = (&part.linked.trace.events, &part.linked.links);
    let mut around = FxHashSet::from_iter([row as u32]);
    let mut found = Vec::new();
    // Parents come before their children in this order.
    for other in inside(part, row) {
        if other != row && !links.nesting.parent.get(other).is_some_and(|parent| around.contains(&parent)) {
            continue;
        }
        around.insert(other as u32);
        // Sync events are no work: they show on their call alone.
        let is_told = |device: &usize| other == row || events.kind[*device].is_device_work();
        found.extend(links.launched.of(other).filter(is_told));
    }
    found
}
