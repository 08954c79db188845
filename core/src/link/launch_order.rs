//! Finds device work that starts before its launch: host and device clocks differ.

use super::launch::LaunchedEvents;
use crate::trace::Trace;

/// Times are off by so much without a fault of a clock, in nanoseconds.
const ROUNDING_NS: i64 = 1_000;

/// How long before its launch a device event starts, where that is more than rounding explains.
pub(super) fn lead_ns(trace: &Trace, launch: u32, device: u32) -> Option<i64> {
    let starts = &trace.events.start;
    let lead = starts[launch as usize].since(starts[device as usize]).0;
    let rounding = if trace.has_coarse_times { 2 * ROUNDING_NS } else { ROUNDING_NS };
    (lead > rounding).then_some(lead)
}

/// Rows of the kernels, copies and fills that start before their launch, by launch.
pub(super) fn early<'a>(trace: &'a Trace, launched: &'a LaunchedEvents) -> impl Iterator<Item = usize> + 'a {
    let is_early = |(launch, device): &&(u32, u32)| {
        trace.events.kind[*device as usize].is_device_work() && lead_ns(trace, *launch, *device).is_some()
    };
    launched.pairs().iter().filter(is_early).map(|(_, device)| *device as usize)
}
