//! Numbers of flows, and the slices that they start and end at.

use rustc_hash::{FxHashMap, FxHashSet};

use super::lanes::recorded_end;
use crate::id::{StrId, TrackId};
use crate::json::write_string;
use crate::sort;
use crate::trace::Trace;
use crate::trace::flow::{Flow, FlowId, FlowPhase};

/// An end of a flow at a slice.
#[derive(Debug, Clone, Copy)]
pub(super) struct SliceFlow {
    pub(super) number: u64,
    pub(super) is_last: bool,
}

/// The ends of all flows between threads, by row; and work that waited for other work.
#[derive(Debug, Default)]
pub(super) struct SliceFlows {
    pub(super) by_row: FxHashMap<usize, Vec<SliceFlow>>,
    /// Rows of work, each with the rows that it waited for.
    pub(super) waits: FxHashMap<usize, Vec<usize>>,
    /// Category and name of flows, with the first of their numbers, as JSON.
    pub(super) names: String,
}

type FlowKey = (StrId, StrId, FlowId);

impl SliceFlows {
    /// Flows from a thread to stages are those of launches, which refer to their work.
    pub(super) fn new(trace: &Trace, is_stage: impl Fn(TrackId) -> bool) -> Self {
        let mut found = Self::default();
        if trace.flows.is_empty() {
            return found;
        }
        let slices = TrackSlices::new(trace);
        let is_on_device = |flow: &Flow| is_stage(flow.track);
        let key = |flow: &Flow| (flow.category, flow.name, flow.id);
        let to_device: FxHashSet<FlowKey> = trace.flows.iter().filter(|flow| is_on_device(flow)).map(key).collect();
        found.find_waits(trace, &slices, &to_device, &is_stage);
        let mut flows: Vec<&Flow> = trace.flows.iter().filter(|flow| !to_device.contains(&key(flow))).collect();
        sort::by_key(&mut flows, |flow| (key(flow), flow.time, flow.position));
        let (mut number, mut before) = (0, None);
        for flow in flows {
            if before != Some(key(flow)) {
                number += 1;
            }
            if before.is_none_or(|(category, name, _)| (category, name) != (flow.category, flow.name)) {
                found.name(trace, flow, number);
            }
            before = Some(key(flow));
            if let Some(row) = slices.at(trace, flow) {
                let is_last = flow.phase == FlowPhase::Finish;
                found.by_row.entry(row).or_default().push(SliceFlow { number, is_last });
            }
        }
        if !found.names.is_empty() {
            found.names = format!("[{}]", found.names);
        }
        found
    }

    fn name(&mut self, trace: &Trace, flow: &Flow, first: u64) {
        let names = &mut self.names;
        names.push_str(if names.is_empty() { "[" } else { ",[" });
        names.push_str(&first.to_string());
        for text in [flow.category, flow.name] {
            names.push(',');
            write_string(names, trace.strings.text(text));
        }
        names.push(']');
    }

    /// Flows from work to work are waits.
    fn find_waits(
        &mut self,
        trace: &Trace,
        slices: &TrackSlices,
        to_device: &FxHashSet<FlowKey>,
        is_stage: &impl Fn(TrackId) -> bool,
    ) {
        let mut starts: FxHashMap<FlowKey, Option<usize>> = FxHashMap::default();
        for flow in &trace.flows {
            let key = (flow.category, flow.name, flow.id);
            if !to_device.contains(&key) || !is_stage(flow.track) {
                continue;
            }
            if flow.phase == FlowPhase::Start {
                starts.insert(key, slices.at(trace, flow));
            } else if let (Some(Some(earlier)), Some(row)) = (starts.get(&key), slices.at(trace, flow)) {
                self.waits.entry(row).or_default().push(*earlier);
            }
        }
    }
}

/// The rows of each track, in the order of their starts.
struct TrackSlices(FxHashMap<TrackId, Vec<usize>>);

/// A flow that starts in no slice is looked for in so many before it.
const MAX_BACK: usize = 1000;

impl TrackSlices {
    fn new(trace: &Trace) -> Self {
        let mut rows: FxHashMap<TrackId, Vec<usize>> = FxHashMap::default();
        for row in 0..trace.events.len() {
            rows.entry(trace.events.track.at(row)).or_default().push(row);
        }
        let order = |row: &usize| (trace.events.start.at(*row), std::cmp::Reverse(recorded_end(trace, *row)));
        rows.values_mut().for_each(|rows| sort::by_key(rows, order));
        Self(rows)
    }

    /// The slice that a flow touches: the innermost around its time.
    fn at(&self, trace: &Trace, flow: &Flow) -> Option<usize> {
        let (events, rows) = (&trace.events, self.0.get(&flow.track)?);
        let end = rows.partition_point(|row| events.start.at(*row) <= flow.time);
        rows[..end].iter().rev().take(MAX_BACK).find(|row| recorded_end(trace, **row) >= flow.time).copied()
    }
}
