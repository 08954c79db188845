//! Finds device work that starts before its launch: host and device clocks differ.

use super::launch::LaunchedEvents;
use crate::sort;
use crate::trace::Trace;

/// Times are off by so much without a fault of a clock, in nanoseconds.
const ROUNDING_NS: i64 = 1_000;

/// Rows of the kernels, copies and fills that start before their launch by more than rounding
/// explains, ascending.
pub(super) fn early(trace: &Trace, launched: &LaunchedEvents) -> Vec<u32> {
    let events = &trace.events;
    let rounding = if trace.has_coarse_times { 2 * ROUNDING_NS } else { ROUNDING_NS };
    let is_early = |(launch, device): &&(u32, u32)| {
        let lead = events.start.at(*launch as usize).since(events.start.at(*device as usize)).0;
        lead > rounding && events.kind[*device as usize].is_device_work()
    };
    let mut rows: Vec<u32> = launched.pairs().iter().filter(is_early).map(|(_, device)| *device).collect();
    if !rows.is_empty() {
        // Work without a time of its own was moved to the start of the trace, with duration 0.
        let first = events.start.iter().min();
        rows.retain(|row| events.dur.at(*row as usize).0 > 0 || Some(events.start.at(*row as usize)) != first);
    }
    sort::ascending(&mut rows);
    rows
}
