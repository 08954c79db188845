//! Forward operators and the backward operators they caused, as the file's own `fwdbwd` flows say.

use rustc_hash::FxHashMap;

use super::nesting::Nesting;
use crate::id::TrackId;
use crate::time::Ts;
use crate::trace::Trace;
use crate::trace::flow::{Flow, FlowId, FlowPhase};
use crate::trace::kind::EventKind;

/// A forward operator and a backward operator, as rows of the event table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ForwardBackward {
    /// The forward operator.
    pub forward: u32,
    /// The backward operator.
    pub backward: u32,
}

pub(super) fn link_forward_backward(trace: &Trace, nesting: &Nesting) -> Vec<ForwardBackward> {
    let is_category = |flow: &&Flow| trace.strings.text(flow.category) == "fwdbwd";
    let mut found: FxHashMap<(TrackId, Ts), Option<u32>> = FxHashMap::default();
    let mut operator_at =
        |track, time| *found.entry((track, time)).or_insert_with(|| operator_at(trace, nesting, track, time));
    let mut starts: FxHashMap<FlowId, u32> = FxHashMap::default();
    for flow in trace.flows.iter().filter(is_category).filter(|flow| flow.phase == FlowPhase::Start) {
        if let Some(row) = operator_at(flow.track, flow.time) {
            starts.insert(flow.id, row);
        }
    }
    let finishes = trace.flows.iter().filter(is_category).filter(|flow| flow.phase == FlowPhase::Finish);
    let link = |flow: &Flow| {
        let forward = *starts.get(&flow.id)?;
        let backward = operator_at(flow.track, flow.time)?;
        Some(ForwardBackward { forward, backward })
    };
    let mut links: Vec<_> = finishes.filter_map(link).collect();
    links.sort_unstable();
    links.dedup();
    links
}

/// The innermost operator that starts at `time` on `track`: where flows are attached.
fn operator_at(trace: &Trace, nesting: &Nesting, track: TrackId, time: Ts) -> Option<u32> {
    let events = &trace.events;
    let rows = nesting.track_rows(track);
    let end = rows.partition_point(|row| events.start[*row as usize] <= time);
    let here = rows[..end].iter().rev().take_while(|row| events.start[**row as usize] == time);
    here.copied().find(|row| events.kind[*row as usize] == EventKind::Operator)
}
