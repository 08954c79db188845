//! Links device events with their launches.

use super::event_warnings::count_events;
use super::flow::{FlowTargets, flows};
use super::link_method::LinkMethod;
use crate::id::OptionalColumn;
use crate::sort;
use crate::strings::TextCache;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;
use crate::vendor::enqueues;
use crate::warning::{WarningKind, Warnings};

/// Device events of each launch: pairs of launch and device event, sorted.
#[derive(Debug, Clone, Default)]
pub struct LaunchedEvents {
    pairs: Vec<(u32, u32)>,
    /// Rows of device events whose launch no `correlation` told, sorted.
    by_flow: Vec<u32>,
}

impl LaunchedEvents {
    /// Rows of the device events that a launch enqueued.
    pub fn of(&self, launch: usize) -> impl ExactSizeIterator<Item = usize> + '_ {
        let start = self.pairs.partition_point(|(row, _)| (*row as usize) < launch);
        let end = self.pairs.partition_point(|(row, _)| (*row as usize) <= launch);
        self.pairs[start..end].iter().map(|(_, device)| *device as usize)
    }

    /// The pair at a place in the list of all launches with their device events.
    pub fn pair(&self, at: usize) -> Option<(u32, u32)> {
        self.pairs.get(at).copied()
    }

    /// How many device events have a launch.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// How the launch of a device event was found.
    pub fn how(&self, device: u32) -> LinkMethod {
        if self.by_flow.binary_search(&device).is_ok() { LinkMethod::Flow } else { LinkMethod::Correlation }
    }
}

/// Whether an event is something that a launch enqueues.
fn is_enqueued(trace: &Trace, row: usize) -> bool {
    let kind = trace.events.kind[row];
    trace.is_on_device(row) && (kind.is_device_work() || kind == EventKind::Sync)
}

/// Whether an event is a call of a device's runtime or driver.
pub(super) fn is_launch(trace: &Trace, row: usize) -> bool {
    trace.events.kind[row] == EventKind::Launch && !trace.is_on_device(row)
}

/// Whether the host had a device work, of which the file has nothing.
pub(crate) fn lacks_device_work(trace: &Trace) -> bool {
    let mut rows = 0..trace.events.len();
    !rows.clone().any(|row| trace.events.kind[row].is_device_work())
        && rows.any(|row| is_launch(trace, row) && enqueues(trace.event_name(row)))
}

/// Joins device work and launches on `correlation`, then by the flows that the file draws. One
/// launch may have many device events (graphs).
pub(super) fn link_launches(trace: &Trace, warnings: &mut Warnings) -> (OptionalColumn, LaunchedEvents) {
    let num_events = trace.events.len();
    let launches = LaunchIndex::new(trace);
    let mut launch = OptionalColumn::empty(num_events);
    let (mut pairs, mut missing) = (Vec::new(), Vec::new());
    for row in (0..num_events).filter(|row| is_enqueued(trace, *row)) {
        match launches.of(trace, row) {
            Some(host) => {
                launch.set(row, host);
                pairs.push((host, row as u32));
            }
            None => missing.push(row),
        }
    }
    let by_flow = flow_pairs(trace, &missing, &mut launch);
    pairs.extend(&by_flow);
    sort::ascending(&mut pairs);
    let mut by_flow: Vec<u32> = by_flow.iter().map(|(_, device)| *device).collect();
    sort::ascending(&mut by_flow);
    let launched = LaunchedEvents { pairs, by_flow };
    let is_missing = |row: &usize| launch.get(*row).is_none() && trace.events.kind[*row].is_device_work();
    count_events(trace, WarningKind::MissingLaunch, missing.into_iter().filter(is_missing), warnings);
    let mut enqueue = TextCache::new(&trace.strings, enqueues);
    let hosts = (0..num_events).filter(|row| is_launch(trace, *row) && enqueue.of(trace.events.name[*row]));
    let idle = hosts.filter(|row| launched.of(*row).len() == 0);
    count_events(trace, WarningKind::LaunchWithoutDeviceEvent, idle, warnings);
    (launch, launched)
}

/// Launches by `correlation`, and by their process; those of one number in the order of their
/// starts.
///
/// Where several processes are in a file, each numbers its launches anew: then device events may
/// say whose they are. Numbers may be used again, too.
struct LaunchIndex(Vec<((u64, Option<i64>), u32)>);

impl LaunchIndex {
    fn new(trace: &Trace) -> Self {
        let events = &trace.events;
        let has_processes =
            (0..events.len()).any(|row| trace.is_on_device(row) && process_of_device_event(trace, row).is_some());
        let host_process = |row: usize| {
            if has_processes { trace.strings.text(trace.process_of(row)).parse().ok() } else { None }
        };
        let hosts = (0..events.len()).filter(|row| is_launch(trace, *row));
        let mut launches: Vec<_> =
            hosts.filter_map(|row| Some(((trace.correlation_id(row)?, host_process(row)), row as u32))).collect();
        sort::by_key(&mut launches, |(key, row)| (*key, events.start[*row as usize]));
        // A call of the driver inside one of the runtime may bear its number.
        let is_inside = |row: u32, other: u32| {
            let (row, other) = (row as usize, other as usize);
            events.track[row] == events.track[other] && events.end(row) <= events.end(other)
        };
        launches.dedup_by(|(key, row), (before, other)| key == before && is_inside(*row, *other));
        Self(launches)
    }

    /// Row of the launch of a device event.
    fn of(&self, trace: &Trace, row: usize) -> Option<u32> {
        let id = trace.correlation_id(row)?;
        let first = self.0.partition_point(|((other, _), _)| *other < id);
        let same = self.0[first..].iter().take_while(|((other, _), _)| *other == id);
        let process = process_of_device_event(trace, row);
        // An event without a process may belong to any.
        let of_process = same.filter(|((_, host), _)| host.is_none() || process.is_none() || *host == process);
        let mut found = of_process.map(|(_, host)| *host);
        let first = found.next()?;
        Some(found.fold(first, |best, other| if is_nearer(trace, row, [best, other]) { other } else { best }))
    }
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

fn process_of_device_event(trace: &Trace, row: usize) -> Option<i64> {
    trace.args.integer(&trace.strings, trace.events.args(row), ArgKey::ProcessId)
}

/// Launches with the device events that miss theirs, by the flows from one to the other; they get
/// their launch.
fn flow_pairs(trace: &Trace, missing: &[usize], launch: &mut OptionalColumn) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    if missing.is_empty() || trace.flows.is_empty() {
        return pairs;
    }
    let hosts = FlowTargets::new(trace, (0..trace.events.len()).filter(|row| is_launch(trace, *row)));
    let devices = FlowTargets::new(trace, missing.iter().copied());
    for mut ends in flows(trace, |_| true) {
        sort::by_key(&mut ends, |end| end.time);
        let mut host = None;
        // A flow may have ends without an event; an id that is used again is that of the later
        // launch.
        for end in ends {
            host = hosts.at(end, |_| true).or(host);
            let device = devices.at(end, |row| launch.get(row as usize).is_none());
            if let Some((host, device)) = host.zip(device) {
                launch.set(device as usize, host);
                pairs.push((host, device));
            }
        }
    }
    pairs
}
