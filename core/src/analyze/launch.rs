//! Explains device events without a launch.

use super::unlinked_reason::UnlinkedReason;
use crate::link::{LinkMethod, LinkedTrace};
use crate::time::Ts;
use crate::trace::Trace;
use crate::trace::kind::EventKind;

/// The reason for a missing launch, in words; `None` where it is known, and for events that need
/// none.
pub(crate) fn why_unlaunched(linked: &LinkedTrace, row: usize) -> Option<&'static str> {
    let is_work = linked.trace.events.kind[row].is_device_work();
    let is_unknown = is_work && linked.links.launch.get(row).is_none();
    is_unknown.then(|| FirstLaunch::of(&linked.trace).reason(&linked.trace, row).message())
}

/// Where the launches of a file begin.
pub(super) struct FirstLaunch {
    /// The lowest `correlation` of a launch: they count up.
    first_id: Option<u64>,
    /// The start of the first event on the host.
    start: Option<Ts>,
}

impl FirstLaunch {
    pub(super) fn of(trace: &Trace) -> Self {
        let events = &trace.events;
        let hosts = || (0..events.len()).filter(|row| !trace.is_on_device(*row));
        let launches = hosts().filter(|row| events.kind[*row] == EventKind::Launch);
        Self {
            first_id: launches.filter_map(|row| trace.correlation_id(row)).min(),
            start: hosts().map(|row| events.start[row]).min(),
        }
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
        let is_early = self.start.is_some_and(|start| trace.events.start[row] < start);
        match trace.correlation_id(row) {
            Some(id) if is_early || self.first_id.is_some_and(|first| id < first) => UnlinkedReason::LaunchedBefore,
            Some(_) => UnlinkedReason::LaunchMissing,
            None => UnlinkedReason::NoCorrelation,
        }
    }
}
