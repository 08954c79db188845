//! The processes of a file that work.

use crate::id::StrId;
use crate::sort;
use crate::trace::Trace;
use crate::trace::kind::EventKind;

/// The processes with operators, calls of a runtime, or device work.
pub(super) struct WorkProcesses {
    pub(super) processes: Vec<StrId>,
    /// Those with operators or calls.
    pub(super) hosts: Vec<StrId>,
}

/// Whether events of a kind are operators or calls.
fn is_host_work(kind: EventKind) -> bool {
    matches!(kind, EventKind::Operator | EventKind::Launch)
}

impl WorkProcesses {
    pub(super) fn of(trace: &Trace) -> Self {
        let mut works = vec![false; trace.tracks.len()];
        for row in Self::rows(trace) {
            works[trace.events.track.at(row).index()] = true;
        }
        let of = |is_host: bool| {
            let tracks = trace.tracks.iter().zip(&works);
            let tracks = tracks.filter(|(track, works)| **works && (!is_host || track.stream.is_none()));
            let mut processes: Vec<StrId> = tracks.map(|(track, _)| track.process).collect();
            sort::ascending(&mut processes);
            processes.dedup();
            processes
        };
        Self { processes: of(false), hosts: of(true) }
    }

    /// Rows of the events that work.
    pub(super) fn rows(trace: &Trace) -> impl Iterator<Item = usize> + '_ {
        let kinds = trace.events.kind.iter().enumerate();
        kinds.filter(|(_, kind)| is_host_work(**kind) || kind.is_device_work()).map(|(row, _)| row)
    }
}
