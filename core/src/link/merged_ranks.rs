//! Recognises the ranks of a job in one file.

use rustc_hash::{FxHashMap, FxHashSet};

use super::collective::communicates;
use super::host_layers::HostLayers;
use super::linked_trace::LinkedTrace;
use super::rank_label::{self, MAX_RANKS};
use super::rank_rows::RankRows;
use super::row_labels::{LabelledRow, RowLabels};
use super::work_processes::WorkProcesses;
use crate::id::StrId;
use crate::sort;
use crate::strings::TextCache;
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;

/// A rank in a merged file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedRank {
    /// Its number in the job.
    pub rank: i64,
    /// The merger's name for it (`TP0`, `rank 3`), or its process (`process 4242`).
    pub label: String,
    /// Where the number comes from.
    pub origin: RankOrigin,
}

/// The origin of a rank's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankOrigin {
    /// A label of the merger.
    Label,
    /// The only device of the rank, which no other rank uses.
    Device,
    /// The order of labels, or of devices and processes, from 0.
    Order,
}

impl RankOrigin {
    /// The name used in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Label => "label",
            Self::Device => "device",
            Self::Order => "order",
        }
    }
}

/// The ranks of a job in one file, and the rows of each.
///
/// Ranks differ by a label of the merger: in the `pid`, the name of the process, the argument
/// `rank`, or before the names of events. Without labels, each process with operators or calls of
/// its own that launched device work is a rank, unless two of them share a GPU by its number in the
/// machine. On a host without devices, each process with iterations or communications is one.
/// Everything else is one rank: helper processes, one process with many devices, and processes that
/// arrows to one device tie together.
#[derive(Debug, Clone)]
pub struct MergedRanks {
    /// At least two, by number.
    pub ranks: Vec<MergedRank>,
    /// The rank of each row.
    pub rows: RankRows,
    /// Whether names of events begin with labels.
    pub has_labelled_names: bool,
}

impl MergedRanks {
    /// The ranks of a file; `None` for the recording of one rank.
    pub fn of(linked: &LinkedTrace) -> Option<Self> {
        let found = labelled(linked).or_else(|| unlabelled(linked));
        found.filter(|found| found.ranks.len() <= MAX_RANKS)
    }
}

/// The ranks that a merger labelled.
fn labelled(linked: &LinkedTrace) -> Option<MergedRanks> {
    let trace = &linked.trace;
    let found = RowLabels::of(trace)?;
    let numbers = rank_label::ranks(&found.labels);
    let origin = if numbers.is_some() { RankOrigin::Label } else { RankOrigin::Order };
    let numbers = numbers.unwrap_or_else(|| (0..found.labels.len() as i64).collect());
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    sort::by_key(&mut order, |label| numbers[*label]);
    let rank = |label: &usize| MergedRank { rank: numbers[*label], label: found.labels[*label].to_string(), origin };
    let ranks: Vec<_> = order.iter().map(rank).collect();
    let mut places = vec![0; order.len()];
    for (place, label) in order.into_iter().enumerate() {
        places[label] = place as u32;
    }
    let of_row = |row: LabelledRow, _| found.of_row(trace, row).map(|label| places[label as usize]);
    let rows = RankRows::of(linked, ranks.len(), &of_row);
    Some(MergedRanks { ranks, rows, has_labelled_names: found.are_in_names() })
}

/// The ranks of a file without labels: processes with device work of their own.
fn unlabelled(linked: &LinkedTrace) -> Option<MergedRanks> {
    let trace = &linked.trace;
    let work = WorkProcesses::of(trace);
    if work.hosts.len() < 2 {
        return None;
    }
    let layers = HostLayers::of(linked);
    let hosts = host_devices(linked, &work.hosts, &layers)?;
    let mut hosts: Vec<(Vec<Option<i64>>, StrId)> =
        hosts.into_iter().map(|(process, devices)| (devices, process)).collect();
    let number = |process: StrId| trace.strings.text(process).parse::<i64>().ok();
    sort::by_key(&mut hosts, |(devices, process)| (devices.clone(), number(*process), *process));
    let own = |(devices, _): &(Vec<Option<i64>>, StrId)| match devices[..] {
        [Some(device)] => Some(device),
        _ => None,
    };
    let devices: Option<Vec<i64>> = hosts.iter().map(own).collect();
    let devices = devices.filter(|devices| devices.windows(2).all(|pair| pair[0] < pair[1]));
    let origin = if devices.is_some() { RankOrigin::Device } else { RankOrigin::Order };
    let numbers = devices.unwrap_or_else(|| (0..hosts.len() as i64).collect());
    let label = |process: StrId| format!("process {}", trace.strings.text(process));
    let ranks = hosts.iter().zip(&numbers);
    let ranks = ranks.map(|((_, process), rank)| MergedRank { rank: *rank, label: label(*process), origin }).collect();
    let places: FxHashMap<StrId, u32> =
        hosts.iter().enumerate().map(|(at, (_, process))| (*process, at as u32)).collect();
    // A device may have the number of a process.
    let of_row = |(process, ..): LabelledRow, is_on_device: bool| {
        places.get(&layers.program(process)).copied().filter(|_| !is_on_device)
    };
    let rows = RankRows::of(linked, hosts.len(), &of_row);
    Some(MergedRanks { ranks, rows, has_labelled_names: false })
}

/// The devices of each host process that is a rank, sorted. `None` if there are no two, or if two
/// share a device of the machine.
fn host_devices(
    linked: &LinkedTrace,
    hosts: &[StrId],
    layers: &HostLayers,
) -> Option<FxHashMap<StrId, Vec<Option<i64>>>> {
    let trace = &linked.trace;
    let number = |process: StrId| Some((trace.strings.text(process).parse::<i64>().ok()?, process));
    let by_number: FxHashMap<i64, StrId> = hosts.iter().filter_map(|process| number(*process)).collect();
    let mut devices: FxHashMap<StrId, FxHashSet<Option<i64>>> = FxHashMap::default();
    let (mut has_work, mut states_process) = (false, false);
    for row in trace.events.device_work() {
        has_work = true;
        let stated = trace.args.integer(&trace.strings, trace.events.args(row), ArgKey::ProcessId);
        states_process |= stated.is_some();
        let launch = linked.links.launch.get(row).map(|launch| trace.process_of(launch as usize));
        if let Some(process) = stated.and_then(|number| by_number.get(&number).copied()).or(launch) {
            devices.entry(layers.program(process)).or_default().insert(trace.device(row));
        }
    }
    if !has_work {
        let processes = communicating(linked, hosts).into_iter();
        devices = processes.map(|process| (layers.program(process), FxHashSet::default())).collect();
    }
    let num_devices: usize = devices.values().map(FxHashSet::len).sum();
    let distinct: FxHashSet<_> = devices.values().flatten().collect();
    // Whoever states the process of device work numbers devices as the machine does.
    let is_shared = states_process && distinct.len() < num_devices;
    (devices.len() >= 2 && !is_shared).then(|| {
        let sorted = |devices: FxHashSet<Option<i64>>| {
            let mut devices: Vec<_> = devices.into_iter().collect();
            sort::ascending(&mut devices);
            devices
        };
        devices.into_iter().map(|(process, devices)| (process, sorted(devices))).collect()
    })
}

/// Host processes with iterations or communications.
fn communicating(linked: &LinkedTrace, hosts: &[StrId]) -> FxHashSet<StrId> {
    let trace = &linked.trace;
    let iterations = linked.links.iterations.iter().map(|iteration| iteration.event as usize);
    let operators = trace.events.rows_of(|kind| kind == EventKind::Operator);
    let mut communicates = TextCache::new(&trace.strings, communicates);
    let communications = operators.filter(|row| communicates.of(trace.events.name.at(*row)));
    let processes = iterations.chain(communications).map(|row| trace.process_of(row));
    processes.filter(|process| hosts.binary_search(process).is_ok()).collect()
}
