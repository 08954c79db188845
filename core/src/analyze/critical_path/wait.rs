//! Who waited for what a device did, and until when.

use std::collections::BTreeMap;

use crate::analyze::selection::Selection;
use crate::sort;
use crate::time::Ts;
use crate::trace::kind::EventKind;

/// Waits of calls and of device work, for work that is looked at.
#[derive(Debug, Default)]
pub(super) struct Waits {
    /// Work, and the row of what waited for it; by who waited.
    pairs: Vec<(u32, u32)>,
    /// When the last work had ended that a call waited for.
    until: BTreeMap<u32, Ts>,
}

impl Waits {
    /// Those that the device reports. Besides, a call whose copy ended inside of it waited for that; and a call named
    /// `…Synchronize` without a report for the work enqueued before it that ended inside of it, last.
    pub(super) fn of(selection: &Selection<'_>) -> Self {
        let (trace, links) = (&selection.linked.trace, &selection.linked.links);
        let reported = selection.linked.sync_edges().iter().map(|edge| (edge.target, edge.source));
        let mut pairs: Vec<_> = reported.collect();
        let num_reported = pairs.len();
        let is_reported = |call: u32| pairs[..num_reported].binary_search_by_key(&call, |(target, _)| *target).is_ok();
        let mut guessed = Vec::new();
        for (launch, device) in (0..links.launched.len()).filter_map(|at| links.launched.pair(at)) {
            let is_copy = trace.events.kind[device as usize] == EventKind::Copy;
            let ended = trace.events.end(device as usize);
            if is_copy && !is_reported(launch) && ended <= trace.events.end(launch as usize) {
                guessed.push((launch, device));
            }
        }
        guessed.extend(unreported(selection, is_reported));
        pairs.extend(guessed);
        pairs.retain(|(target, source)| selection.contains(*target as usize) && selection.contains(*source as usize));
        sort::ascending(&mut pairs);
        pairs.dedup();
        let mut until: BTreeMap<u32, Ts> = BTreeMap::new();
        for (target, source) in &pairs {
            let ended = selection.time(*source as usize).end;
            let known = until.entry(*target).or_insert(ended);
            *known = ended.max(*known);
        }
        Self { pairs, until }
    }

    /// Pairs of who waited and the work it waited for, by rows.
    pub(super) fn pairs(&self) -> &[(u32, u32)] {
        &self.pairs
    }

    /// Work that an event waited for.
    pub(super) fn sources(&self, target: u32) -> impl Iterator<Item = u32> + '_ {
        let start = self.pairs.partition_point(|(other, _)| *other < target);
        self.pairs[start..].iter().take_while(move |(other, _)| *other == target).map(|(_, source)| *source)
    }

    /// When the last work had ended that an event waited for.
    pub(super) fn until(&self, target: u32) -> Option<Ts> {
        self.until.get(&target).copied()
    }
}

/// How many of the works that ended inside a call are looked at: the last of them.
const MAX_LOOKED_AT: usize = 100;

/// Waits that no report tells, as AMD's devices and older profilers leave them.
fn unreported(selection: &Selection<'_>, is_reported: impl Fn(u32) -> bool) -> Vec<(u32, u32)> {
    let (trace, links) = (&selection.linked.trace, &selection.linked.links);
    let events = &trace.events;
    let is_wait = |row: &usize| {
        let is_call = events.kind[*row] == EventKind::Launch && !trace.is_on_device(*row);
        is_call && trace.event_name(*row).ends_with("Synchronize") && !is_reported(*row as u32)
    };
    let calls: Vec<usize> = (0..events.len()).filter(is_wait).collect();
    if calls.is_empty() {
        return Vec::new();
    }
    let mut ended: Vec<u32> = selection.device_work().map(|row| row as u32).collect();
    sort::by_key(&mut ended, |row| (events.end(*row as usize), *row));
    let waited_for = |call: usize| {
        let is_before = |row: &&u32| {
            let launch = links.launch.get(**row as usize)? as usize;
            let is_same = trace.track(events.track[launch]).process == trace.track(events.track[call]).process;
            (is_same && events.start[launch] < events.start[call]).then_some(())
        };
        let num_ended = ended.partition_point(|row| events.end(*row as usize) <= events.end(call));
        let inside = ended[..num_ended].iter().rev().take(MAX_LOOKED_AT);
        let mut inside = inside.take_while(|row| events.end(**row as usize) > events.start[call]);
        inside.find(|row| is_before(row).is_some()).map(|row| (call as u32, *row))
    };
    calls.into_iter().filter_map(waited_for).collect()
}
