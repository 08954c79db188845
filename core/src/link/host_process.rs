//! Finds the host process of device events in files with several processes.

use rustc_hash::{FxHashMap, FxHashSet};

use super::launch_index::of_number;
use super::rank_label::RankLabel;
use crate::id::StrId;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;

/// The host process that launched the work of each device process, where several host processes use
/// the same correlation ids.
///
/// Kineto gives device events the pid of their device, so a file that merges ranks does not state
/// whose they are. Device and host process belong together if a merger gave both the same label
/// (`[TP00] 0` and `[TP00] 4242`), if the launches nearest in the file to nearly all of its device
/// events are of one host process (mergers append one rank after the other), or if they are one.
#[derive(Debug, Default)]
pub(super) struct HostProcesses {
    /// By device process.
    of_device: FxHashMap<StrId, StrId>,
}

/// Out of so many nearest launches, all but one are of one process.
const NEARLY_ALL: usize = 10;

impl HostProcesses {
    /// `launches` are sorted by number and process.
    pub(super) fn new(trace: &Trace, launches: &[((u64, StrId), u32)]) -> Self {
        let is_shared = |pair: &[((u64, StrId), u32)]| pair[0].0.0 == pair[1].0.0 && pair[0].0.1 != pair[1].0.1;
        if !launches.windows(2).any(is_shared) {
            return Self::default();
        }
        let hosts: FxHashSet<StrId> = launches.iter().map(|((_, process), _)| *process).collect();
        let mut votes: FxHashMap<StrId, FxHashMap<StrId, usize>> = FxHashMap::default();
        let devices =
            (0..trace.events.len()).filter(|row| trace.is_on_device(*row) && trace.events.kind[*row].is_device_work());
        for row in devices {
            if let Some(host) = nearest_in_file(trace, launches, row) {
                *votes.entry(trace.process_of(row)).or_default().entry(host).or_default() += 1;
            }
        }
        let of_device = votes.into_iter().filter_map(|(device, votes)| {
            // A device and an unrelated process may both have the number 1, so that comes last.
            let same = || Some(device).filter(|device| hosts.contains(device));
            Some((device, same_label(trace, &hosts, device).or_else(|| winner(&votes)).or_else(same)?))
        });
        Self { of_device: of_device.collect() }
    }

    /// Whether a host process may have launched a device event: it is the process that the event
    /// states, if both have numbers, and that of its device, if it is known.
    pub(super) fn filter<'a>(&self, trace: &'a Trace, row: usize) -> impl Fn(StrId) -> bool + 'a {
        let stated = trace.args.integer(&trace.strings, trace.events.args(row), ArgKey::ProcessId);
        let of_device = self.of_device.get(&trace.process_of(row)).copied();
        let number = |host: StrId| trace.strings.text(host).parse::<i64>().ok();
        move |host| {
            let is_stated = stated.is_none_or(|stated| number(host).is_none_or(|number| number == stated));
            is_stated && of_device.is_none_or(|process| process == host)
        }
    }
}

/// The process of the launch with the same number that is nearest in the file.
fn nearest_in_file(trace: &Trace, launches: &[((u64, StrId), u32)], row: usize) -> Option<StrId> {
    let positions = &trace.events.position;
    let distance = |(_, host): &(StrId, u32)| positions[*host as usize].abs_diff(positions[row]);
    of_number(launches, trace.correlation_id(row)?).min_by_key(distance).map(|(process, _)| process)
}

/// The process with nearly all votes.
fn winner(votes: &FxHashMap<StrId, usize>) -> Option<StrId> {
    let (process, most) = votes.iter().max_by_key(|(process, count)| (**count, **process))?;
    let all: usize = votes.values().sum();
    ((all - most) * NEARLY_ALL <= all).then_some(*process)
}

/// The only host process with the label of a device process.
fn same_label(trace: &Trace, hosts: &FxHashSet<StrId>, device: StrId) -> Option<StrId> {
    let label = RankLabel::of_process(trace, device)?;
    let mut same = hosts.iter().filter(|host| RankLabel::of_process(trace, **host).as_ref() == Some(&label));
    let first = same.next()?;
    same.next().is_none().then_some(*first)
}
