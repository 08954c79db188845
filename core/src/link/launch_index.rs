//! Finds the launch of a device event by `correlation`, inside one process.

use super::host_process::HostProcesses;
use crate::id::StrId;
use crate::sort;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;

/// Whether an event is a call of a device's runtime or driver.
pub(super) fn is_launch(trace: &Trace, row: usize) -> bool {
    trace.events.kind[row] == EventKind::Launch && !trace.is_on_device(row)
}

/// Launches by `correlation` and process; those of one number in the order of their starts.
///
/// Where a file has several processes, each numbers its launches anew. Numbers may also be used
/// again.
pub(super) struct LaunchIndex {
    launches: Vec<((u64, StrId), u32)>,
    processes: HostProcesses,
}

impl LaunchIndex {
    pub(super) fn new(trace: &Trace) -> Self {
        let events = &trace.events;
        let hosts = (0..events.len()).filter(|row| is_launch(trace, *row));
        let key = |row: usize| Some(((trace.correlation_id(row)?, trace.process_of(row)), row as u32));
        let mut launches: Vec<_> = hosts.filter_map(key).collect();
        sort::by_key(&mut launches, |(key, row)| (*key, events.start[*row as usize]));
        // A call of the driver inside one of the runtime may bear its number.
        let is_inside = |row: u32, other: u32| {
            let (row, other) = (row as usize, other as usize);
            events.track[row] == events.track[other] && events.end(row) <= events.end(other)
        };
        launches.dedup_by(|(key, row), (before, other)| key == before && is_inside(*row, *other));
        let processes = HostProcesses::new(trace, &launches);
        Self { launches, processes }
    }

    /// Rows of all launches with a number; of a call of the driver inside one of the runtime, only
    /// the outer.
    pub(super) fn rows(&self) -> impl Iterator<Item = usize> + '_ {
        self.launches.iter().map(|(_, row)| *row as usize)
    }

    /// Whether the process of a host event may have launched a device event.
    pub(super) fn may_launch(&self, trace: &Trace, host: u32, device: u32) -> bool {
        self.processes.filter(trace, device as usize)(trace.process_of(host as usize))
    }

    /// Row of the launch of a device event.
    pub(super) fn of(&self, trace: &Trace, row: usize) -> Option<u32> {
        let id = trace.correlation_id(row)?;
        let is_of_process = self.processes.filter(trace, row);
        let mut found = of_number(&self.launches, id).filter(|(host, _)| is_of_process(*host)).map(|(_, row)| row);
        let first = found.next()?;
        Some(found.fold(first, |best, other| if is_nearer(trace, row, [best, other]) { other } else { best }))
    }
}

/// The launches of a number, each with its process.
pub(super) fn of_number(launches: &[((u64, StrId), u32)], id: u64) -> impl Iterator<Item = (StrId, u32)> + '_ {
    let first = launches.partition_point(|((other, _), _)| *other < id);
    let same = launches[first..].iter().take_while(move |((other, _), _)| *other == id);
    same.map(|((_, process), row)| (*process, *row))
}

/// Whether the second launch of one number is rather that of a device event than the first: it has
/// its `External id`, or else is the last before it.
fn is_nearer(trace: &Trace, device: usize, [best, other]: [u32; 2]) -> bool {
    let external = |row: usize| trace.args.identifier(&trace.strings, trace.events.args(row), ArgKey::ExternalId);
    let rank = |host: u32| {
        let start = trace.events.start[host as usize];
        let is_before = start <= trace.events.start[device];
        let is_of_call = external(device).is_some_and(|id| external(host as usize) == Some(id));
        (is_of_call, is_before, if is_before { start.0 } else { i64::MIN })
    };
    rank(other) > rank(best)
}
