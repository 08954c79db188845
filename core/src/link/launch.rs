//! Links device events with their launches.

use rustc_hash::FxHashMap;

use super::arrow::Arrows;
use super::event_warnings::count_events;
use super::first_launch::FirstLaunch;
use super::flow::{FlowTargets, flows};
use super::host_launches::LaunchMatch;
use super::launch_index::{LaunchIndex, collected, launches};
use super::link_method::LinkMethod;
use super::surplus_kernels;
use crate::column::OptionalColumn;
use crate::sort;
use crate::strings::TextCache;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::flow::FlowPhase;
use crate::trace::kind::EventKind;
use crate::vendor::{copies, enqueues};
use crate::warning::{WarningKind, Warnings};

/// Device events of each launch: pairs of launch and device event, sorted.
#[derive(Debug, Clone, Default)]
pub struct LaunchedEvents {
    pairs: Vec<(u32, u32)>,
    /// How the launches of device events were found, where not by `correlation`, sorted by row.
    methods: Vec<(u32, LinkMethod)>,
    /// Rows of the launches that enqueue work and have no device event, ascending.
    without: Vec<u32>,
    /// Rows of device work that may be of several launches, ascending.
    ambiguous: Vec<u32>,
    /// Arrows to device events, in files of other tools than Kineto.
    arrows: Arrows,
}

impl LaunchedEvents {
    pub(super) fn arrows(&self) -> &Arrows {
        &self.arrows
    }

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

    /// All pairs of launch and device event, sorted.
    pub(crate) fn pairs(&self) -> &[(u32, u32)] {
        &self.pairs
    }

    /// Rows of the launches that enqueue work and have no device event, ascending.
    pub fn without_work(&self) -> &[u32] {
        &self.without
    }

    /// How many device events have a launch.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Whether device work has no launch because several may be its.
    pub fn is_ambiguous(&self, device: u32) -> bool {
        self.ambiguous.binary_search(&device).is_ok()
    }

    /// How the launch of a device event was found.
    pub fn how(&self, device: u32) -> LinkMethod {
        let at = self.methods.binary_search_by_key(&device, |(row, _)| *row);
        at.map_or(LinkMethod::Correlation, |at| self.methods[at].1)
    }
}

/// Rows of all that launches enqueue.
fn enqueued(trace: &Trace) -> impl Iterator<Item = usize> + Clone {
    let rows = trace.events.rows_of(|kind| kind.is_device_work() || kind == EventKind::Sync);
    rows.filter(|row| trace.is_on_device(*row))
}

/// Whether the host had a device work, of which the file has nothing.
pub(crate) fn lacks_device_work(trace: &Trace) -> bool {
    trace.events.device_work().next().is_none() && launches(trace).any(|row| enqueues(trace.event_name(row)))
}

/// Joins device work and launches: on `correlation`, then by the flows that the file draws, then on
/// an `External id` that only one launch has. One launch of a graph may have many device events.
pub(super) fn link_launches(trace: &Trace, warnings: &mut Warnings) -> (OptionalColumn, LaunchedEvents) {
    let launches = LaunchIndex::new(trace);
    let devices = collected(enqueued(trace));
    let mut launch = OptionalColumn::empty(trace.events.len());
    let (mut missing, mut ambiguous) = (Vec::new(), Vec::new());
    for row in devices.iter().map(|row| *row as usize) {
        match launches.of(trace, row) {
            LaunchMatch::Found(host) => launch.set(row, host),
            LaunchMatch::Missing => missing.push(row),
            LaunchMatch::Ambiguous => ambiguous.push(row),
        }
    }
    let numbered = pairs(&devices, &launch);
    let surplus = surplus_kernels::settle(trace, &launches, &numbered, &mut launch);
    let mut methods: Vec<_> = surplus.moved.into_iter().map(|row| (row, LinkMethod::LaunchOrder)).collect();
    let mut of_flows = flow_rows(trace, &launches, &missing, |_| true, &mut launch);
    // Ranks that share flow ids make more ends than two.
    of_flows.extend(flow_rows(trace, &launches, &ambiguous, |num_ends| num_ends == 2, &mut launch));
    methods.extend(of_flows.into_iter().map(|row| (row, LinkMethod::Flow)));
    let (external, unclear) = external_rows(trace, &launches, &missing, &mut launch);
    methods.extend(external.into_iter().map(|row| (row, LinkMethod::ExternalId)));
    let arrows = Arrows::of(trace, &devices);
    methods.extend(arrow_rows(&arrows, &mut launch).into_iter().map(|row| (row, LinkMethod::Flow)));
    sort::ascending(&mut methods);
    let is_changed = !methods.is_empty() || !surplus.ambiguous.is_empty();
    let pairs = if is_changed { pairs(&devices, &launch) } else { numbered };
    ambiguous.retain(|row| launch.get(*row).is_none());
    let ambiguous = sort::distinct(ambiguous.into_iter().chain(surplus.ambiguous).chain(unclear));
    missing.retain(|row| {
        launch.get(*row).is_none() && trace.events.kind[*row].is_device_work() && ambiguous.binary_search(row).is_err()
    });
    count_events(trace, WarningKind::AmbiguousLaunch, ambiguous.iter().copied(), warnings);
    let without = without_work(trace, &launches, &pairs);
    count_unlaunched(trace, launches, &launch, &missing, warnings);
    let ambiguous = ambiguous.into_iter().map(|row| row as u32).collect();
    (launch, LaunchedEvents { pairs, methods, without, ambiguous, arrows })
}

/// Launches with the device events that they enqueued, sorted.
fn pairs(devices: &[u32], launch: &OptionalColumn) -> Vec<(u32, u32)> {
    let linked = devices.iter().filter_map(|row| Some((launch.get(*row as usize)?, *row)));
    let mut pairs = Vec::with_capacity(devices.len());
    pairs.extend(linked);
    // Runs in every read, so it has an instantiation of its own.
    pairs.sort_unstable();
    pairs
}

/// The launches that enqueue work and have no device event, ascending.
fn without_work(trace: &Trace, launches: &LaunchIndex, pairs: &[(u32, u32)]) -> Vec<u32> {
    let mut enqueue = TextCache::new(&trace.strings, enqueues);
    let mut with = pairs.iter().map(|(launch, _)| *launch).peekable();
    let mut has_work = |row: u32| {
        while with.next_if(|launch| *launch < row).is_some() {}
        with.peek() == Some(&row)
    };
    let calls = launches.calls().iter().copied();
    calls.filter(|row| enqueue.of(trace.events.name.at(*row as usize)) && !has_work(*row)).collect()
}

/// Counts device work without a launch: a defect where its launch has to be in the file.
fn count_unlaunched(
    trace: &Trace,
    launches: LaunchIndex,
    launch: &OptionalColumn,
    rows: &[usize],
    warnings: &mut Warnings,
) {
    if rows.is_empty() {
        return;
    }
    let first = FirstLaunch::with(trace, launch, launches);
    let is_missing = |row: &usize| first.is_missing(trace, *row);
    let (missing, unrecorded): (Vec<_>, Vec<_>) = rows.iter().copied().partition(is_missing);
    count_events(trace, WarningKind::MissingLaunch, missing.into_iter(), warnings);
    count_events(trace, WarningKind::UnrecordedLaunch, unrecorded.into_iter(), warnings);
}

/// Gives device events without a launch the one from which a flow leads to them; returns their
/// rows. `may_tell` says whether a flow with so many ends counts.
fn flow_rows(
    trace: &Trace,
    launches: &LaunchIndex,
    missing: &[usize],
    may_tell: fn(usize) -> bool,
    launch: &mut OptionalColumn,
) -> Vec<u32> {
    let mut rows = Vec::new();
    if missing.is_empty() || trace.flows.is_empty() {
        return rows;
    }
    let hosts = FlowTargets::new(trace, launches.calls().iter().map(|row| *row as usize));
    let devices = FlowTargets::new(trace, missing.iter().copied());
    for mut ends in flows(trace, |_| true).filter(|ends| may_tell(ends.len())) {
        sort::by_key(&mut ends, |end| end.time);
        let mut host = None;
        // A flow may have ends without an event; an id that is used again is that of the later
        // launch.
        for end in ends {
            // An arrow that begins on a stream is a dependency of work on work, and no launch.
            let is_dependency = end.phase == FlowPhase::Start && trace.track(end.track).stream.is_some();
            host = hosts.at(end, |_| true).or(host.filter(|_| !is_dependency));
            let device = devices.at(end, |row| launch.get(row as usize).is_none());
            // Merged ranks use the same flow ids, too.
            let pair = host.zip(device).filter(|(host, device)| launches.may_launch(trace, *host, *device));
            if let Some((host, device)) = pair {
                launch.set(device as usize, host);
                rows.push(device);
            }
        }
    }
    rows
}

/// Gives device events without a launch the host event from which an arrow leads to them, rather a
/// call than an operator; returns their rows.
fn arrow_rows(arrows: &Arrows, launch: &mut OptionalColumn) -> Vec<u32> {
    let mut rows = Vec::new();
    for (device, host) in arrows.calls.iter().chain(&arrows.others) {
        if launch.get(*device as usize).is_none() {
            launch.set(*device as usize, *host);
            rows.push(*device);
        }
    }
    rows
}

/// Gives device events without `correlation` and launch those of their rank with their
/// `External id`: the only one, or in order of time if there are as many calls as work of their
/// kind. Returns their rows and those that stay ambiguous.
fn external_rows(
    trace: &Trace,
    launches: &LaunchIndex,
    missing: &[usize],
    launch: &mut OptionalColumn,
) -> (Vec<u32>, Vec<usize>) {
    let id = |row: usize| {
        let id = trace.args.identifier(&trace.strings, trace.events.args(row), ArgKey::ExternalId);
        id.filter(|id| *id != 0 && trace.correlation_id(row).is_none())
    };
    let mut work: FxHashMap<(Option<u32>, u64, bool), Vec<usize>> = FxHashMap::default();
    for row in missing.iter().copied().filter(|row| launch.get(*row).is_none()) {
        if let Some(id) = id(row) {
            work.entry((launches.label(trace, row), id, trace.events.kind[row] == EventKind::Copy))
                .or_default()
                .push(row);
        }
    }
    let (mut rows, mut ambiguous) = (Vec::new(), Vec::new());
    if work.is_empty() {
        return (rows, ambiguous);
    }
    let mut enqueue = TextCache::new(&trace.strings, enqueues);
    let mut copy = TextCache::new(&trace.strings, copies);
    let mut hosts: FxHashMap<(Option<u32>, u64, bool), Vec<usize>> = FxHashMap::default();
    for row in launches.calls().iter().map(|row| *row as usize) {
        if let Some(id) = id(row).filter(|_| enqueue.of(trace.events.name.at(row))) {
            hosts.entry((launches.label(trace, row), id, copy.of(trace.events.name.at(row)))).or_default().push(row);
        }
    }
    for (key, mut work) in work {
        let Some(hosts) = hosts.get_mut(&key) else { continue };
        let by_start = |row: &usize| (trace.events.start.at(*row), *row);
        sort::by_key(&mut work, by_start);
        sort::by_key(hosts, by_start);
        match hosts.as_slice() {
            [host] => work.iter().for_each(|row| launch.set(*row, *host as u32)),
            hosts if hosts.len() == work.len() => {
                work.iter().zip(hosts).for_each(|(row, host)| launch.set(*row, *host as u32));
            }
            _ => {
                ambiguous.append(&mut work);
                continue;
            }
        }
        rows.extend(work.iter().map(|row| *row as u32));
    }
    sort::ascending(&mut ambiguous);
    (rows, ambiguous)
}
