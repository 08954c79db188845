//! Every link as an edge, however it was found: one numbering for tables and screens.

use super::{ForwardBackward, How, LinkedTrace, Named};

/// What an edge means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeKind {
    /// From a launch to the device event it enqueued.
    Launch,
    /// From a forward operator to the backward operator it caused.
    ForwardBackward,
    /// From a host event to the Execution Trace's node of the same call.
    Node,
    /// From an operator to a device event that names it, where the launch between them is unknown.
    External,
    /// From a device event to what waited for it: a call on the host, or the next work of another stream.
    Sync,
}

impl EdgeKind {
    /// The name used in tables and requests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Launch => "launch",
            Self::ForwardBackward => "forward_backward",
            Self::Node => "node",
            Self::External => "external",
            Self::Sync => "sync",
        }
    }
}

/// A directed link between two rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// What it means.
    pub kind: EdgeKind,
    /// How it was found.
    pub how: How,
    /// How sure it is, from 0 to 1.
    pub confidence: f32,
    /// Row of the event it starts at.
    pub source: u32,
    /// Row of the event it ends at; for [`EdgeKind::Node`], of the node.
    pub target: u32,
}

impl Edge {
    fn launch(source: u32, target: u32, how: How) -> Self {
        Self::between(EdgeKind::Launch, how, source, target)
    }

    fn forward_backward(pair: ForwardBackward) -> Self {
        Self::between(EdgeKind::ForwardBackward, pair.how, pair.forward, pair.backward)
    }

    fn named(named: Named) -> Self {
        Self::between(EdgeKind::External, named.how, named.operator, named.device)
    }

    pub(super) fn between(kind: EdgeKind, how: How, source: u32, target: u32) -> Self {
        Self { kind, how, confidence: how.confidence(), source, target }
    }

    fn node(source: u32, target: u32, how: How, confidence: f32) -> Self {
        Self { kind: EdgeKind::Node, how, confidence, source, target }
    }
}

impl LinkedTrace {
    /// All edges: launches, operators that device events name, forward to backward, waits, events to nodes.
    pub(super) fn edges(&self) -> impl Iterator<Item = Edge> + '_ {
        let launched = &self.links.launched;
        let launches = (0..launched.len()).filter_map(|at| launched.pair(at));
        let launches = launches.map(|(source, target)| Edge::launch(source, target, launched.how(target)));
        let named = self.links.named.iter().copied().map(Edge::named);
        let backward = self.forward_backward().iter().copied().map(Edge::forward_backward);
        launches.chain(named).chain(backward).chain(self.sync_edges().iter().copied()).chain(self.node_edges())
    }

    fn node_edges(&self) -> impl Iterator<Item = Edge> + '_ {
        let nodes = &self.links.nodes;
        (0..self.trace.events.len()).filter_map(move |row| {
            Some(Edge::node(row as u32, nodes.node_of_event.get(row)?, nodes.how?, nodes.confidence))
        })
    }

    /// The edges that touch an event: a launch's device events or a device event's launch, and its partners.
    pub fn edges_of(&self, row: usize) -> Vec<Edge> {
        let (links, here) = (&self.links, row as u32);
        let launch = links.launch.get(row).map(|launch| Edge::launch(launch, here, links.launched.how(here)));
        let devices = links.launched.of(row).map(|device| device as u32);
        let devices = devices.map(|device| Edge::launch(here, device, links.launched.how(device)));
        let named = links.named.iter().filter(|named| named.device == here || named.operator == here);
        let partners = self.forward_backward().iter().filter(|pair| pair.forward == here || pair.backward == here);
        let mut edges: Vec<_> = launch.into_iter().chain(devices).collect();
        edges.extend(named.copied().map(Edge::named));
        edges.extend(partners.copied().map(Edge::forward_backward));
        edges.extend(self.sync_edges().iter().filter(|edge| edge.source == here || edge.target == here));
        edges
    }
}
