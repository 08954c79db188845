//! What a rank did at a time: what its devices ran, or why they ran nothing.

use super::super::class::{Class, classes};
use super::super::interval::{difference, total_ns, union, within};
use super::super::selection::Selection;
use crate::id::OptionalColumn;
use crate::sort;
use crate::time::{TimeRange, Ts};

/// What a rank was busy with, or waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cause {
    /// The devices had nothing to do until the host launched it.
    Host,
    /// A device computed.
    Compute,
    /// A device copied, and none computed.
    Copy,
    /// A device communicated, and none did either of these.
    Communication,
    /// What came next had been launched, and nothing ran.
    Idle,
}

impl Cause {
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
    pub(super) fn of(class: Class) -> Self {
        match class {
            Class::Computation | Class::Other => Self::Compute,
            Class::Memory => Self::Copy,
            Class::Communication => Self::Communication,
        }
    }
}

/// When a rank did what: each instant has one cause.
#[derive(Debug, Default)]
pub(super) struct Activity {
    /// By cause, disjoint and ascending.
    by_cause: [Vec<TimeRange>; Cause::ALL.len()],
}

impl Activity {
    /// Of all that a trace holds.
    pub(super) fn of(selection: &Selection<'_>) -> Self {
        let all = Selection::all(selection.linked);
        let (events, launch) = (&all.linked.trace.events, &all.linked.links.launch);
        let classes = classes(all.linked);
        let mut by_cause: [Vec<TimeRange>; Cause::ALL.len()] = Default::default();
        let mut rows: Vec<u32> = all.device_work().map(|row| row as u32).collect();
        sort::by_key(&mut rows, |row| events.start[*row as usize]);
        for row in &rows {
            by_cause[Cause::of(classes[*row as usize]) as usize].push(all.time(*row as usize));
        }
        by_cause.iter_mut().for_each(|ranges| *ranges = union(std::mem::take(ranges)));
        let [_, compute, copy, communication, _] = &mut by_cause;
        *copy = difference(copy, compute);
        let busy = union([compute.as_slice(), copy].concat());
        *communication = difference(communication, &busy);
        let (host, idle) = gaps(&rows, launch, &events.start, &union([busy.as_slice(), communication].concat()));
        (by_cause[Cause::Host as usize], by_cause[Cause::Idle as usize]) = (host, idle);
        Self { by_cause }
    }

    /// How long of a time each cause had, in nanoseconds. They add up to it.
    pub(super) fn during(&self, time: TimeRange) -> [i64; Cause::ALL.len()] {
        Cause::ALL.map(|cause| total_ns(&within(&self.by_cause[cause as usize], time)))
    }
}

/// Times in which nothing ran: until the next work was launched, and from then on.
fn gaps(rows: &[u32], launch: &OptionalColumn, starts: &[Ts], busy: &[TimeRange]) -> (Vec<TimeRange>, Vec<TimeRange>) {
    let (mut host, mut idle, mut at) = (Vec::new(), Vec::new(), 0);
    let mut since = Ts(i64::MIN);
    for until in busy.iter().map(|range| Some(range.start)).chain([None]) {
        let end = until.unwrap_or(Ts(i64::MAX));
        while rows.get(at).is_some_and(|row| starts[*row as usize] < end) {
            at += 1;
        }
        // Without a next work, or without its launch, there is nothing that had been launched, or nothing that says so.
        let launched = match rows.get(at) {
            Some(next) => launch.get(*next as usize).map_or(since, |launch| starts[launch as usize]),
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
