//! Tells why a device event has no launch.

use rustc_hash::FxHashMap;

use crate::id::{OptionalColumn, StrId};
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

/// Where the launches of each process begin.
pub(crate) struct FirstLaunch {
    /// Of the file as a whole.
    all: FirstCalls,
    processes: FxHashMap<StrId, FirstCalls>,
    /// Host processes by number.
    numbered: FxHashMap<i64, StrId>,
    /// The host process of all linked work of a device process; none for several.
    of_device: FxHashMap<StrId, Option<StrId>>,
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
        let start = trace.events.start[row];
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
        let (mut all, mut processes) = (FirstCalls::default(), FxHashMap::<StrId, FirstCalls>::default());
        let mut of_device: FxHashMap<StrId, Option<StrId>> = FxHashMap::default();
        for row in 0..trace.events.len() {
            let process = trace.process_of(row);
            if !trace.is_on_device(row) {
                all.add(trace, row);
                processes.entry(process).or_default().add(trace, row);
            } else if let Some(launch) = launches.get(row) {
                let host = Some(trace.process_of(launch as usize));
                let known = of_device.entry(process).or_insert(host);
                *known = known.filter(|known| Some(*known) == host);
            }
        }
        let number = |process: &StrId| Some((trace.strings.text(*process).parse().ok()?, *process));
        let numbered = processes.keys().filter_map(number).collect();
        Self { all, processes, numbered, of_device }
    }

    /// Whether the launch of a device event has to be in the file: the recording has launches, and
    /// the event is neither older than all of them nor without a number.
    pub(crate) fn is_missing(&self, trace: &Trace, row: usize) -> bool {
        let reason = self.reason(trace, row);
        self.all.has_launch && !matches!(reason, UnlaunchedReason::LaunchedBefore | UnlaunchedReason::NoCorrelation)
    }

    /// Why a device event that was not linked has no launch.
    pub(crate) fn reason(&self, trace: &Trace, row: usize) -> UnlaunchedReason {
        let calls = self.calls_of(trace, row);
        if !calls.has_launch {
            return UnlaunchedReason::NoLaunches;
        }
        let is_early = calls.start.is_some_and(|start| trace.events.start[row] < start);
        match trace.correlation_id(row) {
            Some(id) if is_early || calls.first_id.is_some_and(|first| id < first) => UnlaunchedReason::LaunchedBefore,
            Some(_) => UnlaunchedReason::LaunchMissing,
            None => UnlaunchedReason::NoCorrelation,
        }
    }

    /// Calls of the process that a device event states, or that launched all else on its device;
    /// of the file if neither is known.
    fn calls_of(&self, trace: &Trace, row: usize) -> FirstCalls {
        let stated = trace.args.integer(&trace.strings, trace.events.args(row), ArgKey::ProcessId);
        let of_process = |process: &StrId| self.processes.get(process).copied();
        match stated {
            Some(number) => self.numbered.get(&number).and_then(of_process).unwrap_or_default(),
            None => {
                let host = self.of_device.get(&trace.process_of(row)).copied().flatten();
                host.as_ref().and_then(of_process).unwrap_or(self.all)
            }
        }
    }
}
