//! A leg of the job's path: on one rank, back from a node to a wait for another rank.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::backward_graph::BackwardGraph;
use super::graph::{PathEdge, PathKind};
use super::path::graph_of;
use super::row::{PathRow, PathRowBuilder};
use crate::analyze::job::Job;
use crate::analyze::selection::Selection;
use crate::link::LinkedTrace;
use crate::time::Ts;

/// The graph of a rank, and the nodes at which legs begin.
pub(in crate::analyze) struct CriticalPathLegs {
    pub(super) backward: BackwardGraph,
    /// The ends of communications that waited for another rank, and when that one came.
    held: BTreeMap<u32, Ts>,
}

/// A step of a leg.
#[derive(Debug, Clone, Copy)]
pub(super) struct LegStep {
    /// When it begins.
    pub(super) start: Ts,
    /// The edge: its kind and duration.
    pub(super) edge: PathEdge,
}

/// Facts about other ranks that a rank needs to find its legs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::analyze) struct LegBounds {
    /// How far its clock is ahead.
    pub(super) ahead_ns: i64,
    /// Ids of events that ended with a wait for another rank, and the arrival time of that rank.
    pub(super) held: Vec<(u32, Ts)>,
}

/// Where legs begin, each the id of an event whose end waited for another rank; none at the begin
/// of the trace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::analyze) struct LegStarts {
    /// When the rank did its last, if it did anything.
    pub(super) last: Option<Ts>,
    /// Where the leg begins that ends there.
    pub(super) of_last: Option<u32>,
    /// Where those begin that end in the starts of events, by the ids of these.
    pub(super) of_starts: Vec<(u32, Option<u32>)>,
}

impl LegStarts {
    /// Where the leg begins that ends in the start of an event, or at the last of all.
    pub(super) fn of(&self, start: Option<u32>) -> Option<u32> {
        let Some(start) = start else { return self.of_last };
        let at = self.of_starts.binary_search_by_key(&start, |(id, _)| *id).ok()?;
        self.of_starts[at].1
    }
}

/// The graphs of all members of a job, on the clock that they share.
pub(super) fn graphs(job: &Job<'_>) -> Vec<BackwardGraph> {
    job.each(|member, part| {
        let ahead_ns = job.ranks.members[member].clock.map_or(0, |clock| clock.offset_ns);
        backward(part, ahead_ns)
    })
}

fn backward(part: &Selection<'_>, ahead_ns: i64) -> BackwardGraph {
    let trace = &part.linked.trace;
    BackwardGraph::of(graph_of(part), ahead_ns, trace.events.len(), |row| trace.is_on_device(row))
}

impl LegBounds {
    /// The legs of this trace's rank.
    pub(in crate::analyze) fn legs(&self, part: &Selection<'_>) -> CriticalPathLegs {
        let backward = backward(part, self.ahead_ns);
        let end = |id: u32| backward.ends.get(part.linked.trace.events.row_at(id)?);
        let held = self.held.iter().filter_map(|(id, awaited)| Some((end(*id)?, *awaited))).collect();
        CriticalPathLegs::of(backward, held)
    }
}

impl CriticalPathLegs {
    pub(super) fn of(backward: BackwardGraph, held: BTreeMap<u32, Ts>) -> Self {
        Self { backward, held }
    }

    /// The last node of all.
    pub(super) fn last(&self) -> Option<u32> {
        (self.backward.graph.nodes.len() as u32).checked_sub(1)
    }

    /// The leg that ends in a node, from its end to its start, and the node that it starts at if
    /// that waited for another rank: its last step then takes from when that one came.
    pub(super) fn leg(&self, end: u32) -> (Vec<LegStep>, Option<u32>) {
        let (mut steps, mut at) = (Vec::new(), end);
        let step = |node: u32, start: Ts, edge: PathEdge| {
            let weight_ns = self.backward.time(node).since(start).0.max(0);
            LegStep { start, edge: PathEdge { weight_ns, ..edge } }
        };
        loop {
            if let Some(came) = self.held.get(&at) {
                steps.extend(self.backward.transfer(at).map(|edge| step(at, *came, edge)));
                return (steps, Some(at));
            }
            // Its source is an earlier node.
            let Some(edge) = self.edge(at) else { return (steps, None) };
            steps.push(step(at, self.backward.time(edge.source), edge));
            at = edge.source;
        }
    }

    /// The edge to a node on its rank. Some traces omit waits for collectives. Work that starts
    /// after such a wait, and not as soon as its other dependencies allow, counts as waiting for
    /// the collective.
    fn edge(&self, node: u32) -> Option<PathEdge> {
        let backward = &self.backward;
        let edge = backward.edge(node)?;
        if !backward.is_device[node as usize] || !backward.graph.nodes[node as usize].is_start {
            return Some(edge);
        }
        let waited = |end: &u32| {
            backward.time(*end).since(backward.time(edge.source)) > backward.time(node).since(backward.time(*end))
        };
        let before = self.held.range(..node).next_back().map(|(end, _)| *end).filter(waited);
        Some(before.map_or(edge, |source| PathEdge { source, kind: PathKind::Sync, ..edge }))
    }

    /// Where the legs begin that end in the starts of these events, and the one that ends last.
    pub(in crate::analyze) fn stops(&self, linked: &LinkedTrace, starts: &[u32]) -> LegStarts {
        let trace = &linked.trace;
        let mut stops: Vec<Option<u32>> = Vec::with_capacity(self.backward.graph.nodes.len());
        for node in 0..self.backward.graph.nodes.len() as u32 {
            let before = || stops.get(self.edge(node)?.source as usize).copied().flatten();
            let stop = if self.held.contains_key(&node) { Some(node) } else { before() };
            stops.push(stop);
        }
        let of = |node: u32| {
            let stop = stops.get(node as usize).copied().flatten()?;
            Some(trace.events.position.at(self.backward.graph.nodes[stop as usize].event as usize))
        };
        let last = self.last();
        let of_start = |id: &u32| Some((*id, of(self.start(linked, *id)?)));
        LegStarts {
            last: last.map(|node| self.backward.time(node)),
            of_last: last.and_then(of),
            of_starts: starts.iter().filter_map(of_start).collect(),
        }
    }

    /// The legs that end in the starts of these events, or in the last node of all, each from its
    /// end to its start.
    pub(in crate::analyze) fn rows(&self, linked: &LinkedTrace, ends: &[Option<u32>]) -> Vec<Vec<PathRow>> {
        let mut steps = PathRowBuilder::of(linked);
        let rows = |end: &Option<u32>| {
            let node = end.map_or_else(|| self.last(), |id| self.start(linked, id));
            let leg = node.map(|node| self.leg(node).0).unwrap_or_default();
            leg.iter().map(|step| steps.row(&step.edge, step.start)).collect()
        };
        ends.iter().map(rows).collect()
    }

    fn start(&self, linked: &LinkedTrace, id: u32) -> Option<u32> {
        self.backward.starts.get(linked.trace.events.row_at(id)?)
    }
}
