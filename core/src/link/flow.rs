//! Attaches the flow arrows of a file to events.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use crate::id::{StrId, TrackId};
use crate::sort;
use crate::time::Ts;
use crate::trace::Trace;
use crate::trace::flow::{Flow, FlowId};

/// The ends of each flow that `is_wanted`, in the order of the file.
pub(super) fn flows(trace: &Trace, is_wanted: impl Fn(&Flow) -> bool) -> impl Iterator<Item = Vec<&Flow>> {
    let mut places: FxHashMap<(StrId, FlowId), usize> = FxHashMap::default();
    let mut flows: Vec<Vec<&Flow>> = Vec::new();
    for end in trace.flows.iter().filter(|flow| is_wanted(flow)) {
        let place = *places.entry((end.category, end.id)).or_insert(flows.len());
        if place == flows.len() {
            flows.push(Vec::new());
        }
        flows[place].push(end);
    }
    flows.into_iter()
}

/// Events that the ends of flows may be attached to, by track and start.
pub(super) struct FlowTargets<'a> {
    trace: &'a Trace,
    rows: Vec<(TrackId, Ts, u32)>,
}

impl<'a> FlowTargets<'a> {
    pub(super) fn new(trace: &'a Trace, rows: impl Iterator<Item = usize>) -> Self {
        let events = &trace.events;
        let mut rows: Vec<_> = rows.map(|row| (events.track[row], events.start[row], row as u32)).collect();
        sort::ascending(&mut rows);
        Self { trace, rows }
    }

    /// The event that starts where a flow has its end. Of several, the one that the file has
    /// written just before the end, or else the shortest.
    pub(super) fn at(&self, end: &Flow, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let events = &self.trace.events;
        let first = self.rows.partition_point(|(track, start, _)| (*track, *start) < (end.track, end.time));
        let here = self.rows[first..].iter().take_while(|(track, start, _)| (*track, *start) == (end.track, end.time));
        let rank = |row: &u32| {
            let position = Some(events.position[*row as usize]).filter(|position| *position < end.position);
            (position, Reverse(events.dur[*row as usize]))
        };
        here.map(|(_, _, row)| *row).filter(|row| is_it(*row)).max_by_key(rank)
    }
}
