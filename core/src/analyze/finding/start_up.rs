//! What is done once, when a process begins to use a device.

use rustc_hash::FxHashMap;

use super::super::interval::Cover;
use super::super::words::plural;
use super::found::{Found, by_subject};
use super::scene::Scene;
use super::{Find, Rule};
use crate::id::TrackId;
use crate::time::TimeRange;
use crate::trace::kind::EventKind;

pub(super) static START_UP: Rule = Rule {
    name: "start_up",
    doc: "long calls before the device's first work, or in the first call of an operator: contexts, libraries, and code are loaded once",
    cost: "time of the calls with no device work",
    advice: "no part of the run that lasts: record after some iterations (ks.profile(wait=1, warmup=1, active=3))",
    is_pattern: false,
    find: Find::Trace(found),
};

/// Calls that only launch take no longer.
const LONG_NS: i64 = 5_000_000;

/// Calls that wait for the device.
const WAITS: [&str; 4] = ["Synchronize", "StreamWait", "Query", "Memcpy"];

/// Whether a call of this name may be waiting for the device.
pub(super) fn is_waiting(name: &str) -> bool {
    WAITS.iter().any(|part| name.contains(part))
}

/// Whether an event is a long call of the runtime that is done once.
pub(super) fn is_one(scene: &Scene<'_>, row: usize) -> bool {
    scene.trace.events.kind[row] == EventKind::Launch
        && !scene.trace.is_on_device(row)
        && scene.selection.dur_ns(row) >= LONG_NS
        && !is_waiting(scene.trace.event_name(row))
        && scene.is_start_up(row as u32)
}

/// When each thread was in one of these calls.
pub(super) fn by_thread(scene: &Scene<'_>) -> FxHashMap<TrackId, Cover> {
    let mut times: FxHashMap<TrackId, Vec<TimeRange>> = FxHashMap::default();
    for row in calls(scene) {
        times.entry(scene.trace.events.track[row as usize]).or_default().push(scene.time(row));
    }
    times.into_iter().map(|(thread, times)| (thread, Cover::of(times))).collect()
}

/// Rows of the long calls that are done once.
fn calls(scene: &Scene<'_>) -> Vec<u32> {
    if !scene.has_device() {
        return Vec::new();
    }
    scene.selection.rows().filter(|row| is_one(scene, *row)).map(|row| row as u32).collect()
}

fn found(scene: &Scene<'_>) -> Vec<Found> {
    let cost = |row: u32| (scene.name(row).to_owned(), scene.lost_ns(scene.time(row)), row);
    let told = |(subject, costs): (String, Vec<(i64, u32)>)| {
        let lost_ns = scene.all_lost_ns(costs.iter().map(|(_, row)| scene.time(*row)));
        let detail = plural(costs.len(), "call");
        Found::of(subject, costs, 0.8).at_most(lost_ns).told(detail)
    };
    by_subject(calls(scene).into_iter().map(cost)).into_iter().map(told).collect()
}
