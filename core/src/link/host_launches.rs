//! Finds the launch of a device event among those of one rank, or of the whole file.

use rustc_hash::FxHashMap;

use super::crowded_number::CrowdedNumber;
use super::host_process::HostProcesses;
use super::rank_label::MAX_RANKS;
use crate::id::StrId;
use crate::sort;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;
use crate::vendor::{enqueues, single_work};

/// The outcome of a search for a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LaunchMatch {
    Found(u32),
    /// No launch can be that of the event.
    Missing,
    /// Several can, of different ranks.
    Ambiguous,
}

/// More launches of one number than these are looked up, not looked through.
const CROWD: usize = 16;

/// Number, kind and `External id` of a device event.
type WorkKey = (u64, EventKind, Option<u64>);

/// A launch with its number and its process.
#[derive(Debug, Clone, Copy)]
pub(super) struct NumberedLaunch {
    pub(super) number: u64,
    pub(super) process: StrId,
    pub(super) row: u32,
}

impl NumberedLaunch {
    fn of(trace: &Trace, row: u32) -> Option<Self> {
        let number = trace.correlation_id(row as usize)?;
        Some(Self { number, process: trace.process_of(row as usize), row })
    }

    fn key(&self) -> (u64, StrId) {
        (self.number, self.process)
    }
}

/// Launches by `correlation` and process; those of one number in the order of their starts.
///
/// Where a file has several processes, each numbers its launches anew. Numbers may also be used
/// again.
#[derive(Debug, Default)]
pub(super) struct HostLaunches {
    launches: Vec<NumberedLaunch>,
    processes: HostProcesses,
    /// Numbers of very many launches.
    crowds: FxHashMap<u64, CrowdedNumber>,
    /// How many device events that may be of several processes have the same key.
    contested: FxHashMap<WorkKey, usize>,
}

impl HostLaunches {
    /// `launches` and `rows` are those of a rank; `rows` is `None` for the whole file.
    pub(super) fn new(trace: &Trace, launches: &[u32], rows: Option<&[u32]>) -> Self {
        let events = &trace.events;
        let numbered = launches.iter().filter_map(|row| NumberedLaunch::of(trace, *row));
        // There are millions, and nearly all of them have a number.
        let mut launches: Vec<_> = Vec::with_capacity(launches.len());
        launches.extend(numbered);
        sort::by_key(&mut launches, |launch| (launch.key(), events.start.at(launch.row as usize)));
        // A call of the driver inside one of the runtime may bear its number.
        let is_inside = |row: u32, other: u32| {
            let (row, other) = (row as usize, other as usize);
            events.track.at(row) == events.track.at(other) && events.end(row) <= events.end(other)
        };
        launches.dedup_by(|launch, last| launch.key() == last.key() && is_inside(launch.row, last.row));
        let processes = HostProcesses::new(trace, &launches, rows);
        let same = launches.chunk_by(|launch, next| launch.number == next.number).filter(|same| same.len() > CROWD);
        let crowd = |same: &[NumberedLaunch]| CrowdedNumber::of(trace, same.iter().map(|launch| launch.row));
        let crowds = same.map(|same| (same[0].number, crowd(same))).collect();
        let mut contested: FxHashMap<WorkKey, usize> = FxHashMap::default();
        if !processes.are_mixed() {
            return Self { launches, processes, crowds, contested };
        }
        let mut count = |row: usize| {
            if events.kind[row].is_device_work()
                && trace.is_on_device(row)
                && processes.is_contested(trace, row)
                && let Some(key) = work_key(trace, row)
            {
                *contested.entry(key).or_default() += 1;
            }
        };
        match rows {
            Some(rows) => rows.iter().for_each(|row| count(*row as usize)),
            None => (0..events.len()).for_each(count),
        }
        Self { launches, processes, crowds, contested }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.launches.is_empty()
    }

    /// Rows of all launches with a number; of a call of the driver inside one of the runtime, only
    /// the outer.
    pub(super) fn rows(&self) -> impl Iterator<Item = u32> + '_ {
        self.launches.iter().map(|launch| launch.row)
    }

    /// The host process of a device event, if the file tells it.
    pub(super) fn process_of(&self, trace: &Trace, row: usize) -> Option<StrId> {
        self.processes.of(trace, row)
    }

    /// Whether a launch may be that of a device event, by their processes; where these do not tell,
    /// by the kind of work.
    pub(super) fn may_launch(&self, trace: &Trace, host: u32, device: u32) -> bool {
        let device = device as usize;
        self.processes.filter(trace, device)(trace.process_of(host as usize))
            && (!self.processes.is_contested(trace, device) || is_alike(trace, host, device))
    }

    /// The launch of a device event.
    pub(super) fn of(&self, trace: &Trace, row: usize) -> LaunchMatch {
        let Some(id) = trace.correlation_id(row) else { return LaunchMatch::Missing };
        if self.processes.is_contested(trace, row) {
            return self.of_contested(trace, row, id);
        }
        if let Some(crowd) = self.crowds.get(&id) {
            let found = crowd.nearest(trace, row, &self.processes.scopes(trace, row));
            return found.map_or(LaunchMatch::Missing, LaunchMatch::Found);
        }
        let is_of_process = self.processes.filter(trace, row);
        let found = of_number(&self.launches, id).iter().filter(|launch| is_of_process(launch.process));
        nearest(trace, row, found.map(|launch| launch.row))
    }

    /// The launch of a device event that may be of several processes: certain if all launches that
    /// can be its own are of one process, and no fewer than the events alike. Otherwise an event
    /// may be that of another rank, whose launch is older than the recording.
    fn of_contested(&self, trace: &Trace, row: usize, id: u64) -> LaunchMatch {
        if self.crowds.get(&id).is_some_and(|crowd| crowd.len() > MAX_RANKS) {
            return LaunchMatch::Ambiguous;
        }
        let alike = of_number(&self.launches, id).iter().filter(|launch| is_alike(trace, launch.row, row));
        let alike: Vec<NumberedLaunch> = alike.copied().collect();
        let is_single = |host: u32| single_work(trace.event_name(host as usize)).is_some();
        let num_events = work_key(trace, row).and_then(|key| self.contested.get(&key)).copied().unwrap_or(1);
        let is_certain = alike.len() >= num_events
            && alike.iter().all(|launch| launch.process == alike[0].process && is_single(launch.row));
        if alike.is_empty() || is_certain {
            return nearest(trace, row, alike.into_iter().map(|launch| launch.row));
        }
        LaunchMatch::Ambiguous
    }
}

/// The launches of a number.
pub(super) fn of_number(launches: &[NumberedLaunch], number: u64) -> &[NumberedLaunch] {
    let later = &launches[launches.partition_point(|launch| launch.number < number)..];
    &later[..later.iter().take_while(|launch| launch.number == number).count()]
}

fn external_id(trace: &Trace, row: usize) -> Option<u64> {
    let id = trace.args.identifier(&trace.strings, trace.events.args(row), ArgKey::ExternalId);
    id.filter(|id| *id != 0)
}

fn work_key(trace: &Trace, row: usize) -> Option<WorkKey> {
    Some((trace.correlation_id(row)?, trace.events.kind[row], external_id(trace, row)))
}

/// Whether a call enqueues work of the kind of a device event, and for the same operator.
fn is_alike(trace: &Trace, host: u32, device: usize) -> bool {
    let call = trace.event_name(host as usize);
    let ids = external_id(trace, host as usize).zip(external_id(trace, device));
    enqueues(call)
        && single_work(call).is_none_or(|kind| kind == trace.events.kind[device])
        && ids.is_none_or(|(host, device)| host == device)
}

/// The launch of one number that is rather that of a device event than the others: it has its
/// `External id`, or else is the last before it.
fn nearest(trace: &Trace, device: usize, launches: impl Iterator<Item = u32>) -> LaunchMatch {
    let external = |row: usize| trace.args.identifier(&trace.strings, trace.events.args(row), ArgKey::ExternalId);
    let rank = |host: u32| {
        let start = trace.events.start.at(host as usize);
        let is_before = start <= trace.events.start.at(device);
        let is_of_call = external(device).is_some_and(|id| external(host as usize) == Some(id));
        (is_of_call, is_before, if is_before { start.0 } else { i64::MIN })
    };
    let later_wins = |best: u32, other: u32| if rank(other) > rank(best) { other } else { best };
    launches.reduce(later_wins).map_or(LaunchMatch::Missing, LaunchMatch::Found)
}
