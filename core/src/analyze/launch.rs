//! Explains device events without a launch.

use rustc_hash::FxHashMap;

use super::unlinked_reason::UnlinkedReason;
use crate::id::StrId;
use crate::link::{LinkMethod, LinkedTrace};
use crate::time::Ts;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;

/// The reason for a missing launch, in words; `None` where it is known, and for events that need
/// none.
pub(crate) fn why_unlaunched(linked: &LinkedTrace, row: usize) -> Option<&'static str> {
    let is_work = linked.trace.events.kind[row].is_device_work();
    let is_unknown = is_work && linked.links.launch.get(row).is_none();
    is_unknown.then(|| FirstLaunch::of(linked).reason(&linked.trace, row).message())
}

/// Where the launches of each process begin.
pub(super) struct FirstLaunch {
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
    pub(super) fn of(linked: &LinkedTrace) -> Self {
        let (trace, links) = (&linked.trace, &linked.links);
        let (mut all, mut processes) = (FirstCalls::default(), FxHashMap::<StrId, FirstCalls>::default());
        let mut of_device: FxHashMap<StrId, Option<StrId>> = FxHashMap::default();
        for row in 0..trace.events.len() {
            let process = trace.process_of(row);
            if !trace.is_on_device(row) {
                all.add(trace, row);
                processes.entry(process).or_default().add(trace, row);
            } else if let Some(launch) = links.launch.get(row) {
                let host = Some(trace.process_of(launch as usize));
                let known = of_device.entry(process).or_insert(host);
                *known = known.filter(|known| Some(*known) == host);
            }
        }
        let number = |process: &StrId| Some((trace.strings.text(*process).parse().ok()?, *process));
        let numbered = processes.keys().filter_map(number).collect();
        Self { all, processes, numbered, of_device }
    }

    /// How the launch of a device event was found, or why not.
    pub(super) fn launch(&self, linked: &LinkedTrace, row: usize) -> Result<LinkMethod, UnlinkedReason> {
        let launch = linked.links.launch.get(row).map(|_| linked.links.launched.how(row as u32));
        launch.ok_or_else(|| self.reason(&linked.trace, row))
    }

    /// How the operator of a device event was found, or why not.
    pub(super) fn owner(&self, linked: &LinkedTrace, row: usize) -> Result<LinkMethod, UnlinkedReason> {
        let links = &linked.links;
        if links.operator.get(row).is_some() {
            let named = links.named.binary_search_by_key(&(row as u32), |named| named.device);
            return Ok(named.map_or(LinkMethod::Enclosure, |at| links.named[at].how));
        }
        self.launch(linked, row).and(Err(UnlinkedReason::OperatorMissing))
    }

    fn reason(&self, trace: &Trace, row: usize) -> UnlinkedReason {
        let calls = self.calls_of(trace, row);
        if !calls.has_launch {
            return UnlinkedReason::NoLaunches;
        }
        let is_early = calls.start.is_some_and(|start| trace.events.start[row] < start);
        match trace.correlation_id(row) {
            Some(id) if is_early || calls.first_id.is_some_and(|first| id < first) => UnlinkedReason::LaunchedBefore,
            Some(_) => UnlinkedReason::LaunchMissing,
            None => UnlinkedReason::NoCorrelation,
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
