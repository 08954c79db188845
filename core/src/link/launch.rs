//! Device events and the host events that enqueued them.

use super::count_events;
use super::nesting::Nesting;
use crate::id::OptionalColumn;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;
use crate::warning::{WarningKind, Warnings};

/// Device events of each launch: pairs of launch and device event, sorted.
#[derive(Debug, Clone, Default)]
pub struct Launched(Vec<(u32, u32)>);

impl Launched {
    /// Rows of the device events that a launch enqueued.
    pub fn of(&self, launch: usize) -> impl ExactSizeIterator<Item = usize> + '_ {
        let start = self.0.partition_point(|(row, _)| (*row as usize) < launch);
        let end = self.0.partition_point(|(row, _)| (*row as usize) <= launch);
        self.0[start..end].iter().map(|(_, device)| *device as usize)
    }

    /// The pair at a place in the list of all launches with their device events.
    pub fn pair(&self, at: usize) -> Option<(u32, u32)> {
        self.0.get(at).copied()
    }

    /// How many device events have a launch.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Joins device work and launches on `correlation`. One launch may have many device events (graphs).
///
/// Where several processes are in a file, each numbers its launches anew: then device events say whose they are.
pub(super) fn link_launches(trace: &Trace, warnings: &mut Warnings) -> (OptionalColumn, Launched) {
    let events = &trace.events;
    let correlation = |row| {
        let id = trace.args.identifier(&trace.strings, events.args(row), ArgKey::Correlation);
        id.filter(|id| *id != 0)
    };
    let process = |row| trace.args.integer(&trace.strings, events.args(row), ArgKey::ProcessId);
    let has_processes = (0..events.len()).any(|row| trace.is_on_device(row) && process(row).is_some());
    let host_process = |row: usize| {
        let process = trace.track(events.track[row]).process;
        if has_processes { trace.strings.text(process).parse().ok() } else { None }
    };
    let is_launch = |row: &usize| events.kind[*row] == EventKind::Launch && !trace.is_on_device(*row);
    let hosts = (0..events.len()).filter(is_launch);
    let mut launches: Vec<((u64, Option<i64>), u32)> =
        hosts.filter_map(|row| Some(((correlation(row)?, host_process(row)), row as u32))).collect();
    launches.sort_unstable();
    launches.dedup_by_key(|(key, _)| *key);
    let mut launch = OptionalColumn::empty(events.len());
    let mut launched = Vec::new();
    let mut missing = Vec::new();
    for row in 0..events.len() {
        if !trace.is_on_device(row) || !(events.kind[row].is_device_work() || events.kind[row] == EventKind::Sync) {
            continue;
        }
        let found = correlation(row).and_then(|id| {
            let first = launches.partition_point(|((other, _), _)| *other < id);
            let same = launches[first..].iter().take_while(|((other, _), _)| *other == id);
            let process = process(row);
            // Who does not say which process it is of may be of any.
            same.into_iter().find(|((_, host), _)| host.is_none() || process.is_none() || *host == process)
        });
        match found {
            Some(&(_, host)) => {
                launch.set(row, host);
                launched.push((host, row as u32));
            }
            None if events.kind[row].is_device_work() => {
                missing.push(row);
            }
            None => {}
        }
    }
    launched.sort_unstable();
    count_events(trace, WarningKind::MissingLaunch, missing.into_iter(), warnings);
    let launched = Launched(launched);
    let idle = (0..events.len()).filter(is_launch).filter(|row| launched.of(*row).len() == 0);
    count_events(trace, WarningKind::LaunchWithoutDeviceEvent, idle, warnings);
    (launch, launched)
}

/// The innermost operator or annotation around each event, or around its launch.
pub(super) fn own(trace: &Trace, nesting: &Nesting, launch: &OptionalColumn) -> OptionalColumn {
    let kinds = &trace.events.kind;
    let is_owner = |row: usize| matches!(kinds[row], EventKind::Operator | EventKind::Annotation);
    let mut owner = OptionalColumn::empty(kinds.len());
    // Parents come before their children in this order, so an owner is found in one step.
    for &row in &nesting.order {
        let row = row as usize;
        let Some(parent) = nesting.parent.get(row) else { continue };
        let inherited = if is_owner(parent as usize) { Some(parent) } else { owner.get(parent as usize) };
        if let Some(inherited) = inherited {
            owner.set(row, inherited);
        }
    }
    for (row, kind) in kinds.iter().enumerate() {
        if trace.is_on_device(row) && *kind != EventKind::Annotation {
            match launch.get(row).and_then(|launch| owner.get(launch as usize)) {
                Some(operator) => owner.set(row, operator),
                None => owner.clear(row),
            }
        }
    }
    owner
}
