//! Finds the memory that is in use at a time.

use rustc_hash::FxHashMap;

use super::edit_log::{MEMORY, edits};
use super::memory_record::{HELD, NAME};
use crate::sort;
use crate::time::Ts;
use crate::trace::Trace;
use crate::trace::flow::Instant;

/// Rows of the records of memory that was allocated before `time` and not released, in a trace that
/// knows all of it from a memory snapshot; none in others.
pub(super) fn held_memory(trace: &Trace, time: Ts) -> Vec<usize> {
    if !edits(trace).iter().any(|edit| edit["edit"] == MEMORY) {
        return Vec::new();
    }
    let is_record = |instant: &Instant| [NAME, HELD].contains(&trace.strings.text(instant.name));
    let mut earlier: Vec<usize> = (0..trace.instants.len())
        .filter(|row| trace.instants[*row].time < time && is_record(&trace.instants[*row]))
        .collect();
    sort::by_key(&mut earlier, |row| (trace.instants[*row].time, trace.instants[*row].position));
    let mut held: FxHashMap<[Option<i64>; 3], usize> = FxHashMap::default();
    for row in earlier {
        let pairs = trace.args.pairs(&trace.strings, trace.instants[row].args);
        let numbers: FxHashMap<&str, i64> = pairs.filter_map(|(key, text)| Some((key, text.parse().ok()?))).collect();
        let number = |key: &str| numbers.get(key).copied();
        let place = ["Device Type", "Device Id", "Addr"].map(number);
        held.remove(&place);
        if number("Bytes").is_some_and(|bytes| bytes >= 0) {
            held.insert(place, row);
        }
    }
    let mut rows: Vec<usize> = held.into_values().collect();
    sort::ascending(&mut rows);
    rows
}
