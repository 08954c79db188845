//! Tells why a device event has no launch.

use rustc_hash::FxHashMap;

use super::launch_index::LaunchIndex;
use crate::column::OptionalColumn;
use crate::id::StrId;
use crate::time::Ts;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;

/// Why a device event has no launch: the first of these that holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnlaunchedReason {
    /// Its process has no recorded launch.
    NoLaunches,
    /// It was enqueued before the recording began.
    LaunchedBefore,
    /// Its launch has to be in the file, and is not.
    LaunchMissing,
    /// It has no correlation id.
    NoCorrelation,
}

/// A process, with the label of its rank in a merged file.
type ProcessKey = (Option<u32>, StrId);

/// Where the launches of each process begin.
pub(crate) struct FirstLaunch {
    index: LaunchIndex,
    /// Of each rank of a merged file by its label, and of the file as a whole.
    ranks: FxHashMap<Option<u32>, FirstCalls>,
    processes: FxHashMap<ProcessKey, FirstCalls>,
    /// Host processes by number.
    numbered: FxHashMap<(Option<u32>, i64), StrId>,
    /// The host process of all linked work of a device process; none for several.
    of_device: FxHashMap<ProcessKey, Option<StrId>>,
}

/// The first calls on the host.
#[derive(Debug, Clone, Copy, Default)]
struct FirstCalls {
    /// The lowest `correlation` of a launch: they count up.
    first_id: Option<u64>,
    /// The start of the first event on the host.
    start: Option<Ts>,
    has_launch: bool,
}

impl FirstCalls {
    fn add(&mut self, trace: &Trace, row: usize) {
        let start = trace.events.start.at(row);
        self.start = Some(self.start.map_or(start, |first| first.min(start)));
        if trace.events.kind[row] == EventKind::Launch {
            self.has_launch = true;
            let id = trace.correlation_id(row);
            self.first_id = self.first_id.into_iter().chain(id).min();
        }
    }
}

impl FirstLaunch {
    pub(crate) fn of(trace: &Trace, launches: &OptionalColumn) -> Self {
        Self::with(trace, launches, LaunchIndex::new(trace))
    }

    pub(super) fn with(trace: &Trace, launches: &OptionalColumn, index: LaunchIndex) -> Self {
        let mut ranks: FxHashMap<Option<u32>, FirstCalls> = FxHashMap::default();
        let mut processes: FxHashMap<ProcessKey, FirstCalls> = FxHashMap::default();
        let mut of_device: FxHashMap<ProcessKey, Option<StrId>> = FxHashMap::default();
        for row in 0..trace.events.len() {
            let (label, process) = (index.label(trace, row), trace.process_of(row));
            if !trace.is_on_device(row) {
                ranks.entry(None).or_default().add(trace, row);
                if label.is_some() {
                    ranks.entry(label).or_default().add(trace, row);
                }
                processes.entry((label, process)).or_default().add(trace, row);
            } else if let Some(launch) = launches.get(row) {
                let host = Some(trace.process_of(launch as usize));
                let known = of_device.entry((label, process)).or_insert(host);
                *known = known.filter(|known| Some(*known) == host);
            }
        }
        let number =
            |(label, process): &ProcessKey| Some(((*label, trace.strings.text(*process).parse().ok()?), *process));
        let numbered = processes.keys().filter_map(number).collect();
        Self { index, ranks, processes, numbered, of_device }
    }

    /// Whether the launch of a device event has to be in the file: the recording has launches, and
    /// the event is neither older than all of them nor without a number.
    pub(crate) fn is_missing(&self, trace: &Trace, row: usize) -> bool {
        let reason = self.reason(trace, row);
        self.of_rank(self.index.label(trace, row)).has_launch
            && !matches!(reason, UnlaunchedReason::LaunchedBefore | UnlaunchedReason::NoCorrelation)
    }

    /// Why a device event that was not linked has no launch.
    pub(crate) fn reason(&self, trace: &Trace, row: usize) -> UnlaunchedReason {
        let calls = self.calls_of(trace, row);
        if !calls.has_launch {
            return UnlaunchedReason::NoLaunches;
        }
        let is_early = calls.start.is_some_and(|start| trace.events.start.at(row) < start);
        match trace.correlation_id(row) {
            Some(id) if is_early || calls.first_id.is_some_and(|first| id < first) => UnlaunchedReason::LaunchedBefore,
            Some(_) => UnlaunchedReason::LaunchMissing,
            None => UnlaunchedReason::NoCorrelation,
        }
    }

    /// Calls of the rank of an event, or of the file if it has no label.
    fn of_rank(&self, label: Option<u32>) -> FirstCalls {
        self.ranks.get(&label).copied().unwrap_or_default()
    }

    /// Calls of the process that a device event states, or whose work its device does; of its rank
    /// or the file if neither is known.
    fn calls_of(&self, trace: &Trace, row: usize) -> FirstCalls {
        let stated = trace.args.integer(&trace.strings, trace.events.args(row), ArgKey::ProcessId);
        let label = self.index.label(trace, row);
        let of_process = |process: StrId| self.processes.get(&(label, process)).copied();
        if let Some(number) = stated {
            return self.numbered.get(&(label, number)).copied().and_then(of_process).unwrap_or_default();
        }
        let of_device = || self.of_device.get(&(label, trace.process_of(row))).copied().flatten();
        let host = self.index.process_of(trace, row).or_else(of_device);
        host.and_then(of_process).unwrap_or_else(|| self.of_rank(label))
    }
}
