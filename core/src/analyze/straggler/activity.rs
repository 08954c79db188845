//! Divides a rank's time by cause: device work by class, or the reason for idle time.

use super::super::class::{WorkClass, classes};
use super::super::interval::{difference, total_ns, union, within};
use super::super::selection::Selection;
use crate::column::OptionalColumn;
use crate::column::Times;
use crate::sort;
use crate::time::{TimeRange, Ts};

/// The cause that a rank's time is attributed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DelayCause {
    /// The devices had nothing to do until the host launched it.
    Host,
    /// A device computed.
    Compute,
    /// A device copied, and none computed.
    Copy,
    /// A device communicated, and none did either of these.
    Communication,
    /// The next work was launched, and nothing ran.
    Idle,
}

impl DelayCause {
    pub(super) const ALL: [Self; 5] = [Self::Host, Self::Compute, Self::Copy, Self::Communication, Self::Idle];

    /// The name used in tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Compute => "compute",
            Self::Copy => "copy",
            Self::Communication => "communication",
            Self::Idle => "idle",
        }
    }

    /// The cause that a class of work is.
    pub(super) fn of(class: WorkClass) -> Self {
        match class {
            WorkClass::Computation | WorkClass::Other => Self::Compute,
            WorkClass::Memory => Self::Copy,
            WorkClass::Communication => Self::Communication,
        }
    }
}

/// A rank's time by cause: each instant has exactly one.
#[derive(Debug, Default)]
pub(super) struct Activity {
    /// By cause, disjoint and ascending.
    by_cause: [Vec<TimeRange>; DelayCause::ALL.len()],
}

impl Activity {
    /// Of all that a trace holds.
    pub(super) fn of(selection: &Selection<'_>) -> Self {
        let all = Selection::all(selection.linked);
        let (events, launch) = (&all.linked.trace.events, &all.linked.links.launch);
        let classes = classes(all.linked);
        let mut by_cause: [Vec<TimeRange>; DelayCause::ALL.len()] = Default::default();
        let mut rows: Vec<u32> = all.device_work().map(|row| row as u32).collect();
        sort::by_key(&mut rows, |row| events.start.at(*row as usize));
        for row in &rows {
            by_cause[DelayCause::of(classes[*row as usize]) as usize].push(all.time(*row as usize));
        }
        by_cause.iter_mut().for_each(|ranges| *ranges = union(std::mem::take(ranges)));
        let [_, compute, copy, communication, _] = &mut by_cause;
        *copy = difference(copy, compute);
        let busy = union([compute.as_slice(), copy].concat());
        *communication = difference(communication, &busy);
        let (host, idle) = gaps(&rows, launch, &events.start, &union([busy.as_slice(), communication].concat()));
        (by_cause[DelayCause::Host as usize], by_cause[DelayCause::Idle as usize]) = (host, idle);
        Self { by_cause }
    }

    /// The times of a cause within a time.
    pub(super) fn ranges(&self, cause: DelayCause, time: TimeRange) -> Vec<TimeRange> {
        within(&self.by_cause[cause as usize], time)
    }

    /// How long of a time each cause had, in nanoseconds. They add up to it.
    pub(super) fn during(&self, time: TimeRange) -> [i64; DelayCause::ALL.len()] {
        DelayCause::ALL.map(|cause| total_ns(&self.ranges(cause, time)))
    }
}

/// Times in which nothing ran: until the next work was launched, and from then on.
fn gaps(rows: &[u32], launch: &OptionalColumn, starts: &Times, busy: &[TimeRange]) -> (Vec<TimeRange>, Vec<TimeRange>) {
    let (mut host, mut idle, mut at) = (Vec::new(), Vec::new(), 0);
    let mut since = Ts(i64::MIN);
    for until in busy.iter().map(|range| Some(range.start)).chain([None]) {
        let end = until.unwrap_or(Ts(i64::MAX));
        while rows.get(at).is_some_and(|row| starts.at(*row as usize) < end) {
            at += 1;
        }
        // Without a next work, or without its launch, there is nothing that had been launched, or
        // nothing that says so.
        let launched = match rows.get(at) {
            Some(next) => launch.get(*next as usize).map_or(since, |launch| starts.at(launch as usize)),
            None => end,
        };
        let launched = launched.max(since).min(end);
        host.push(TimeRange { start: since, end: launched });
        idle.push(TimeRange { start: launched, end });
        if let Some(range) = until.and_then(|start| busy.get(busy.partition_point(|range| range.start < start))) {
            since = range.end;
        }
    }
    let has_time = |range: &TimeRange| range.start < range.end;
    host.retain(has_time);
    idle.retain(has_time);
    (host, idle)
}
