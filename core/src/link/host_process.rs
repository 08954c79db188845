//! Finds the host process of device events in files with several processes.

use rustc_hash::{FxHashMap, FxHashSet};

use super::host_launches::{NumberedLaunch, of_number};
use crate::id::StrId;
use crate::sort;
use crate::time::Ts;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;

/// The host process that launched the work of each device process, where several host processes use
/// the same correlation ids.
///
/// Kineto gives device events the pid of their device, so a file that merges ranks does not state
/// whose they are. Device and host process belong together if the launches of nearly all of its
/// device events are of one host process, or if they are one. These launches are those in the same
/// part of the file, if it has one rank after the other. If it mixes ranks, launches and device
/// events of one number pair in order.
#[derive(Debug, Default)]
pub(super) struct HostProcesses {
    /// By device process.
    of_device: FxHashMap<StrId, StrId>,
    /// For processes of devices that several host processes use.
    blocks: HostBlocks,
    is_mixed: bool,
}

/// Out of so many launches, all but one are of one process.
const NEARLY_ALL: usize = 20;
/// The same where no two launches have device events of one number: half of them may err.
const MOST: usize = 2;

impl HostProcesses {
    /// `launches` are sorted by number and process; `rows` are those of a rank, or of the file.
    pub(super) fn new(trace: &Trace, launches: &[NumberedLaunch], rows: Option<&[u32]>) -> Self {
        let is_shared =
            |pair: &[NumberedLaunch]| pair[0].number == pair[1].number && pair[0].process != pair[1].process;
        if !launches.windows(2).any(is_shared) {
            return Self::default();
        }
        let hosts: FxHashSet<StrId> = launches.iter().map(|launch| launch.process).collect();
        let rows: Vec<usize> = match rows {
            Some(rows) => rows.iter().map(|row| *row as usize).collect(),
            None => (0..trace.events.len()).collect(),
        };
        // In a file in the order of time, calls of one rank may happen to follow those of another.
        let is_by_time = rows.is_sorted_by_key(|row| trace.events.start.at(*row));
        let (mut devices, calls): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| trace.is_on_device(*row));
        devices.retain(|row| trace.events.kind[*row].is_device_work());
        let blocks = if is_by_time { HostBlocks::default() } else { HostBlocks::of(trace, &hosts, &calls, &devices) };
        let is_mixed = blocks.starts.is_empty();
        let pairs = if is_mixed {
            pairs_in_order(trace, launches, &devices)
        } else {
            let place = |row: &usize| Some((*row, blocks.at(trace.events.position.at(*row))?));
            devices.iter().filter_map(place).collect()
        };
        let mut votes: FxHashMap<StrId, FxHashMap<StrId, usize>> = FxHashMap::default();
        for (row, host) in pairs {
            *votes.entry(trace.process_of(row)).or_default().entry(host).or_default() += 1;
        }
        let shared = if is_mixed { sharing_devices(trace, &devices) } else { FxHashSet::default() };
        let needed = |device: StrId| if is_mixed && !shared.contains(&device) { MOST } else { NEARLY_ALL };
        let of_device = votes.into_iter().filter_map(|(device, votes)| {
            // A device and an unrelated process may both have the number 1, so that comes last.
            let same = || Some(device).filter(|device| hosts.contains(device));
            Some((device, winner(&votes, needed(device)).or_else(same)?))
        });
        Self { of_device: of_device.collect(), blocks, is_mixed }
    }

    /// The host process of the work of a device event's process, if the file tells it.
    pub(super) fn of(&self, trace: &Trace, row: usize) -> Option<StrId> {
        let of_device = self.of_device.get(&trace.process_of(row)).copied();
        of_device.or_else(|| self.blocks.at(trace.events.position.at(row)))
    }

    /// Whether several host processes use the same ids, and their events alternate in the file.
    pub(super) fn are_mixed(&self) -> bool {
        self.is_mixed
    }

    /// Whether a device event may be of several processes, which use the same ids.
    pub(super) fn is_contested(&self, trace: &Trace, row: usize) -> bool {
        let states_process = || trace.args.template(trace.events.args(row)).has(ArgKey::ProcessId);
        self.is_mixed && self.of(trace, row).is_none() && !states_process()
    }

    /// Whether a host process may have launched a device event: it is the process that the event
    /// states, if both have numbers, and that of its device, if it is known.
    pub(super) fn filter<'a>(&self, trace: &'a Trace, row: usize) -> impl Fn(StrId) -> bool + 'a {
        let stated = trace.args.integer(&trace.strings, trace.events.args(row), ArgKey::ProcessId);
        let of_device = self.of(trace, row);
        move |host| match stated.zip(number(trace, host)) {
            Some((stated, number)) => stated == number,
            None => of_device.is_none_or(|process| process == host),
        }
    }

    /// The scopes that together have the host processes of [`filter`](Self::filter).
    pub(super) fn scopes(&self, trace: &Trace, row: usize) -> Vec<ProcessScope> {
        let stated = trace.args.integer(&trace.strings, trace.events.args(row), ArgKey::ProcessId);
        match (stated, self.of(trace, row)) {
            (None, None) => vec![ProcessScope::Any],
            (None, Some(process)) => vec![ProcessScope::Process(process)],
            (Some(number), None) => vec![ProcessScope::Number(number), ProcessScope::Unnumbered],
            (Some(stated), Some(process)) if number(trace, process).is_none() => {
                vec![ProcessScope::Number(stated), ProcessScope::Process(process)]
            }
            (Some(number), Some(_)) => vec![ProcessScope::Number(number)],
        }
    }
}

/// Host processes among which a launch is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ProcessScope {
    Any,
    Process(StrId),
    /// Those whose `pid` is this number.
    Number(i64),
    /// Those whose `pid` is no number.
    Unnumbered,
}

impl ProcessScope {
    /// The scopes that have a host process.
    pub(super) fn of_host(trace: &Trace, process: StrId) -> [Self; 3] {
        [Self::Any, Self::Process(process), number(trace, process).map_or(Self::Unnumbered, Self::Number)]
    }
}

fn number(trace: &Trace, process: StrId) -> Option<i64> {
    trace.strings.text(process).parse().ok()
}

/// The parts of a file that each have the events of one host process.
#[derive(Debug, Default)]
struct HostBlocks {
    /// First positions, ascending; none if events of host processes alternate, as if sorted by
    /// time.
    starts: Vec<(u32, StrId)>,
}

impl HostBlocks {
    fn of(trace: &Trace, hosts: &FxHashSet<StrId>, calls: &[usize], devices: &[usize]) -> Self {
        let mut blocks: Vec<(u32, u32, StrId)> = Vec::new();
        for row in calls {
            let (process, position) = (trace.process_of(*row), trace.events.position.at(*row));
            if let Some(block) = blocks.last_mut().filter(|block| block.2 == process) {
                block.1 = position;
            } else if hosts.contains(&process) {
                if blocks.len() == hosts.len() {
                    return Self::default();
                }
                blocks.push((position, position, process));
            }
        }
        // Work between two blocks is of the first, unless device work comes first in the file.
        let positions = devices.iter().map(|row| trace.events.position.at(*row));
        let (first, last) = (blocks.first().map_or(0, |block| block.0), blocks.last().map_or(0, |block| block.1));
        let comes_first = positions.clone().any(|at| at < first) && !positions.clone().any(|at| at > last);
        let mut starts: Vec<_> = blocks.iter().map(|(first, _, host)| (*first, *host)).collect();
        if comes_first {
            for (at, (_, last, _)) in blocks.iter().enumerate().take(blocks.len().saturating_sub(1)) {
                starts[at + 1].0 = last + 1;
            }
        }
        Self { starts }
    }

    /// The host process of the block at a position.
    fn at(&self, position: u32) -> Option<StrId> {
        let at = self.starts.partition_point(|(start, _)| *start <= position);
        self.starts.get(at.saturating_sub(1)).map(|(_, host)| *host)
    }
}

/// Device events with the process of their launch, if the first launch of a number is that of its
/// first device event, and so on.
fn pairs_in_order(trace: &Trace, launches: &[NumberedLaunch], devices: &[usize]) -> Vec<(usize, StrId)> {
    let start = |row: usize| trace.events.start.at(row);
    let mut numbered: Vec<(u64, Ts, usize)> =
        devices.iter().filter_map(|row| Some((trace.correlation_id(*row)?, start(*row), *row))).collect();
    sort::ascending(&mut numbered);
    let mut pairs = Vec::new();
    for events in numbered.chunk_by(|one, other| one.0 == other.0) {
        let of_number = of_number(launches, events[0].0).iter();
        let mut hosts: Vec<(Ts, StrId)> =
            of_number.map(|launch| (start(launch.row as usize), launch.process)).collect();
        if hosts.len() == events.len() {
            sort::ascending(&mut hosts);
            pairs.extend(events.iter().zip(hosts).map(|((.., row), (_, host))| (*row, host)));
        }
    }
    pairs
}

/// Device processes in which a number occurs twice, as where ranks call their GPUs alike.
fn sharing_devices(trace: &Trace, devices: &[usize]) -> FxHashSet<StrId> {
    let mut seen: FxHashSet<(StrId, u64)> = FxHashSet::default();
    let numbered = devices.iter().filter_map(|row| Some((trace.process_of(*row), trace.correlation_id(*row)?)));
    numbered.filter(|place| !seen.insert(*place)).map(|(device, _)| device).collect()
}

/// The process with the most votes, unless one of so many is for another.
fn winner(votes: &FxHashMap<StrId, usize>, needed: usize) -> Option<StrId> {
    let (process, most) = votes.iter().max_by_key(|(process, count)| (**count, **process))?;
    let all: usize = votes.values().sum();
    let others = all - most;
    (others * needed <= all && others < *most).then_some(*process)
}
