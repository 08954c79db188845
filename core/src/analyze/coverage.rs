//! Measures the share of a trace that is linked, by method, with reasons for the rest.

use std::collections::BTreeMap;
use std::ops::AddAssign as _;

use serde::Serialize;

use super::launch::{capture_method, first_launch, launch_method, owner_method};
use super::unlinked_reason::{FileSide, UnlinkedReason};
use crate::link::{IterationMatch, LinkMethod, LinkedTrace, calls};
use crate::trace::node::NodeKind;

/// Shares of linked rows over the whole trace.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct LinkCoverage {
    /// Nodes of the Execution Trace that stand for calls, with their event on the host.
    pub nodes: LinkedShare,
    /// Operators and annotations on the host, with their node.
    pub operators: LinkedShare,
    /// Kernels, copies and fills, with the launch that enqueued them.
    pub device_events: LinkedShare,
    /// Kernels, copies and fills, with the operator or annotation that owns them.
    pub device_owners: LinkedShare,
    /// Kernels, copies and fills of replayed graphs, with what captured them or what they state.
    pub graph_work: LinkedShare,
    /// Confidence of the links between nodes and operators, from 0 to 1; without links, the
    /// confidence that was too low.
    pub confidence: f32,
    /// Iterations of the longer recording that the shorter one fits, where one is longer.
    pub windows: Vec<IterationMatchRow>,
    /// The meaning of each reason that occurs.
    pub reasons: BTreeMap<UnlinkedReason, &'static str>,
}

/// Calls of the longer recording that the whole of the shorter one fits.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IterationMatchRow {
    /// The number of the `ProfilerStep#n` that it starts in, or, without any, its place among all
    /// windows.
    pub iteration: i64,
    /// The share of the shorter recording's calls that are found in it.
    pub fit: f32,
    /// Its start, as the file counts time; `None` where the Execution Trace is the longer
    /// recording.
    pub start_ns: Option<i64>,
    /// Whether it is the one that is linked.
    pub is_linked: bool,
}

/// A number of rows, and how many of them are linked by which method.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LinkedShare {
    /// All of them.
    pub count: u64,
    /// Those that are linked.
    pub num_linked: u64,
    /// Those that are linked, by the key that matched.
    pub linked: BTreeMap<LinkMethod, u64>,
    /// The rest, by the reason.
    pub unlinked: BTreeMap<UnlinkedReason, u64>,
}

impl LinkedShare {
    fn add_all(&mut self, other: Self) {
        self.count += other.count;
        self.num_linked += other.num_linked;
        other.linked.into_iter().for_each(|(how, count)| self.linked.entry(how).or_default().add_assign(count));
        other
            .unlinked
            .into_iter()
            .for_each(|(reason, count)| self.unlinked.entry(reason).or_default().add_assign(count));
    }

    fn add(&mut self, found: Result<LinkMethod, UnlinkedReason>) {
        self.count += 1;
        self.num_linked += u64::from(found.is_ok());
        match found {
            Ok(how) => self.linked.entry(how).or_default().add_assign(1),
            Err(reason) => self.unlinked.entry(reason).or_default().add_assign(1),
        }
    }
}

impl LinkCoverage {
    /// The shares of two traces together; `windows` and `confidence` stay those of the first.
    pub(crate) fn add(&mut self, other: Self) {
        self.nodes.add_all(other.nodes);
        self.operators.add_all(other.operators);
        self.device_events.add_all(other.device_events);
        self.device_owners.add_all(other.device_owners);
        self.graph_work.add_all(other.graph_work);
        self.reasons.extend(other.reasons);
    }
}

/// Counts linked rows by method.
pub fn coverage(linked: &LinkedTrace) -> LinkCoverage {
    let sides = (FileSide::of_nodes(linked), FileSide::of_events(linked));
    let (nodes, operators) = (nodes(linked, &sides), operators(linked, &sides));
    let mut coverage = LinkCoverage { nodes, operators, ..LinkCoverage::default() };
    let links = &linked.links;
    coverage.confidence = links.nodes.confidence;
    coverage.windows = links.nodes.windows.iter().map(|window| window_row(linked, window)).collect();
    let first = first_launch(linked);
    for row in linked.trace.events.device_work() {
        coverage.device_events.add(launch_method(linked, &first, row));
        coverage.device_owners.add(owner_method(linked, &first, row));
    }
    let graphs = linked.replayed_graphs();
    let has_captures = !graphs.is_empty() && linked.has_captures();
    for graph in graphs {
        let known = (has_captures, graph.is_in_order);
        let rows = graph.launches.iter().flatten().map(|row| *row as usize);
        rows.for_each(|row| coverage.graph_work.add(capture_method(linked, known, row)));
    }
    let LinkCoverage { nodes, operators, device_events, device_owners, graph_work, .. } = &coverage;
    let shares = [nodes, operators, device_events, device_owners, graph_work];
    let reasons = shares.into_iter().flat_map(|share| share.unlinked.keys());
    coverage.reasons = reasons.map(|reason| (*reason, reason.message())).collect();
    coverage
}

fn window_row(linked: &LinkedTrace, window: &IterationMatch) -> IterationMatchRow {
    let IterationMatch { iteration, fit, is_linked, .. } = *window;
    let start_ns = window.is_of_events.then(|| linked.trace.events.start.at(window.first as usize).0);
    IterationMatchRow { iteration, fit, start_ns, is_linked }
}

fn nodes(linked: &LinkedTrace, (nodes, events): &(FileSide<'_>, FileSide<'_>)) -> LinkedShare {
    let (trace, links) = (&linked.trace, &linked.links.nodes);
    let is_counted = |row: &usize| {
        let node = &trace.nodes[*row];
        !matches!(node.kind(trace.strings.text(node.name)), NodeKind::Root | NodeKind::ProcessGroup)
    };
    let mut share = LinkedShare::default();
    for row in (0..trace.nodes.len()).filter(is_counted) {
        let how = links.how.filter(|_| links.event_of_node.get(row).is_some());
        share.add(how.ok_or_else(|| nodes.reason(linked, row, events)));
    }
    share
}

fn operators(linked: &LinkedTrace, (nodes, events): &(FileSide<'_>, FileSide<'_>)) -> LinkedShare {
    let (trace, links) = (&linked.trace, &linked.links.nodes);
    let mut share = LinkedShare::default();
    for row in calls(trace) {
        let how = links.find(row).map(|(_, how)| how);
        share.add(how.ok_or_else(|| events.reason(linked, row, nodes)));
    }
    share
}
