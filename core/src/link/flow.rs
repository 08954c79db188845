//! Attaches the flow arrows of a file to events.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use crate::id::{StrId, TrackId};
use crate::sort;
use crate::time::Ts;
use crate::trace::Trace;
use crate::trace::flow::{Flow, FlowId};
use crate::trace::kind::EventKind;
use crate::vendor;

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

/// Device events, out of `rows`, to which a flow leads from an operator, with that: in files whose
/// flows do so.
pub(super) fn operator_flows(trace: &Trace, rows: &[usize]) -> Vec<(u32, u32)> {
    let categories: Vec<_> = vendor::operator_flows().filter_map(|name| trace.strings.get(name.as_bytes())).collect();
    if categories.is_empty() || rows.is_empty() {
        return Vec::new();
    }
    let is_operator = |row: &usize| trace.events.kind[*row] == EventKind::Operator && !trace.is_on_device(*row);
    let hosts = FlowTargets::new(trace, (0..trace.events.len()).filter(is_operator));
    let devices = FlowTargets::new(trace, rows.iter().copied());
    let mut pairs = Vec::new();
    for mut ends in flows(trace, |flow| categories.contains(&flow.category)) {
        sort::by_key(&mut ends, |end| end.time);
        let mut host = None;
        for end in ends {
            host = hosts.at(end, |_| true).or(host);
            pairs.extend(devices.at(end, |_| true).zip(host));
        }
    }
    sort::ascending(&mut pairs);
    pairs.dedup_by_key(|(device, _)| *device);
    pairs
}
