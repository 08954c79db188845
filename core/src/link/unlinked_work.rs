//! Excuses launches whose work is perhaps in the file, but not linked.
//!
//! Work without a `correlation`, or with one that several launches have, belongs to some launch.
//! As many launches without device events as there is such work may have it.

use std::collections::{BTreeMap, VecDeque};

use super::launch::LaunchedEvents;
use super::link_method::LinkMethod;
use crate::column::OptionalColumn;
use crate::sort;
use crate::strings::TextCache;
use crate::time::Ts;
use crate::trace::Trace;
use crate::trace::kind::EventKind;
use crate::vendor;

/// Splits launches without device events into those that lost their work, and those whose work may
/// be in the file.
pub(super) fn leave_out(
    trace: &Trace,
    launch: &OptionalColumn,
    launched: &LaunchedEvents,
    launches: Vec<u32>,
) -> (Vec<u32>, Vec<u32>) {
    let work = if launches.is_empty() { Vec::new() } else { unlinked_work(trace, launch) };
    if work.is_empty() {
        return (launches, Vec::new());
    }
    let events = &trace.events;
    let unclear = unclear_work(trace, launched, &work);
    let mut copies = TextCache::new(&trace.strings, vendor::copies);
    let mut groups: BTreeMap<(bool, bool), Vec<u32>> = BTreeMap::new();
    for row in launches {
        let is_numbered = trace.correlation_id(row as usize).is_some();
        groups.entry((is_numbered, copies.of(events.name.at(row as usize)))).or_default().push(row);
    }
    let (mut lost, mut unlinked) = (Vec::new(), Vec::new());
    for ((is_numbered, is_copy), rows) in groups {
        let of_kind = |row: &&usize| (events.kind[**row] == EventKind::Copy) == is_copy;
        let candidates = if is_numbered { &unclear } else { &work };
        let mut starts: Vec<_> = candidates.iter().filter(of_kind).map(|row| events.start.at(*row)).collect();
        sort::ascending(&mut starts);
        let (without, with) = in_order(trace, rows, &starts);
        lost.extend(without);
        unlinked.extend(with);
    }
    sort::ascending(&mut lost);
    (lost, unlinked)
}

/// Kernels and copies without a launch. Launches without a number may have enqueued any.
fn unlinked_work(trace: &Trace, launch: &OptionalColumn) -> Vec<usize> {
    let is_unlinked = |row: &usize| {
        let kind = trace.events.kind[*row];
        matches!(kind, EventKind::Kernel | EventKind::Copy) && trace.is_on_device(*row) && launch.get(*row).is_none()
    };
    (0..trace.events.len()).filter(is_unlinked).collect()
}

/// Those that launches with a number may have enqueued: ambiguous ones, and work without a number
/// in a file whose work has none.
fn unclear_work(trace: &Trace, launched: &LaunchedEvents, work: &[usize]) -> Vec<usize> {
    let is_numbered = |(_, device): &(u32, u32)| launched.how(*device) == LinkMethod::Correlation;
    let is_any_numbered = launched.pairs().iter().any(is_numbered);
    let is_unclear =
        |row: &usize| launched.is_ambiguous(*row as u32) || (!is_any_numbered && trace.correlation_id(*row).is_none());
    work.iter().copied().filter(is_unclear).collect()
}

/// Gives each work the first waiting launch, in order of time; returns launches without and with
/// work. Work before all launches counts too: clocks may differ.
fn in_order(trace: &Trace, mut launches: Vec<u32>, work: &[Ts]) -> (Vec<u32>, Vec<u32>) {
    let start_of = |row: &u32| trace.events.start.at(*row as usize);
    sort::by_key(&mut launches, |row| (start_of(row), *row));
    let (mut waiting, mut with, mut next, mut num_early) = (VecDeque::new(), Vec::new(), 0, 0);
    for start in work {
        let until = next + launches[next..].partition_point(|row| start_of(row) <= *start);
        waiting.extend(&launches[next..until]);
        next = until;
        match waiting.pop_front() {
            Some(row) => with.push(row),
            None => num_early += 1,
        }
    }
    waiting.extend(&launches[next..]);
    with.extend(waiting.drain(..num_early.min(waiting.len())));
    (waiting.into(), with)
}
