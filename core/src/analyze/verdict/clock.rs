//! Reports device work that starts before its launch, with the clock offset that repairs it.

use super::problem::{Problem, VerdictState};
use crate::analyze::number_text::duration_text;
use crate::link::LinkedTrace;
use crate::sort;
use crate::warning::WarningKind;

/// The recording is compared in so many parts.
const NUM_PARTS: usize = 4;

/// Offsets of the parts of a recording differ by less without a drift, in nanoseconds.
const STEADY_NS: i64 = 20_000;

/// Offsets of the parts differ by at most this share of the largest without a drift.
const STEADY_SHARE: f64 = 0.1;

/// The problem, with the smallest offset of device times with which no work starts before its
/// launch, if it is the same all over the recording.
pub(super) fn problem(linked: &LinkedTrace) -> Option<Problem> {
    if linked.links.warnings.count(WarningKind::WorkBeforeLaunch) == 0 {
        return None;
    }
    let (trace, events) = (&linked.trace, &linked.trace.events);
    let pairs = linked.links.launched.pairs().iter();
    let mut leads: Vec<(u32, u32, i64)> = pairs
        .filter(|(_, device)| events.kind[*device as usize].is_device_work())
        .map(|(launch, device)| {
            (*launch, *device, events.start[*launch as usize].since(events.start[*device as usize]).0)
        })
        .collect();
    sort::by_key(&mut leads, |(launch, device, _)| (events.start[*launch as usize], *device));
    let is_early = |(launch, device, _): &&(u32, u32, i64)| linked.lead_ns(*launch, *device).is_some();
    let rows: Vec<u32> = leads.iter().filter(is_early).map(|(_, device, _)| *device).collect();
    if rows.is_empty() {
        return None;
    }
    let parts = leads.chunks(leads.len().div_ceil(NUM_PARTS));
    let offsets: Vec<i64> = parts.filter_map(|part| part.iter().map(|(.., lead)| *lead).max()).collect();
    let (least, most) = (offsets.iter().min().copied()?, offsets.iter().max().copied()?);
    let is_steady = most - least <= STEADY_NS.min(most) || ((most - least) as f64) <= STEADY_SHARE * most as f64;
    let repair = if is_steady {
        format!("device times plus {} repair it: launches(clock_offset_ns={most})", duration_text(most))
    } else {
        let [least, most] = [least.max(0), most].map(duration_text);
        format!("the offset changes from {least} to {most}, so no single one repairs it")
    };
    let message = format!("kernels, copies or fills start before their launch: their delays are unknown ({repair})");
    let problem = Problem::new("work_before_launch", VerdictState::Inconsistent, rows.len(), message);
    let advice = "the clocks of host and device differ: do not compare host with device times more closely than this";
    Some(problem.of_rows(trace, &rows).of(leads.len()).advised(advice))
}
