//! Every link as an edge, however it was found: one numbering for tables and screens.

use super::{ForwardBackward, How, LinkedTrace};

/// What an edge means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeKind {
    /// From a launch to the device event it enqueued.
    Launch,
    /// From a forward operator to the backward operator it caused.
    ForwardBackward,
    /// From a host event to the Execution Trace's node of the same call.
    Node,
}

impl EdgeKind {
    /// The name used in tables and requests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Launch => "launch",
            Self::ForwardBackward => "forward_backward",
            Self::Node => "node",
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
    fn launch(source: u32, target: u32) -> Self {
        Self { kind: EdgeKind::Launch, how: How::Correlation, confidence: 1.0, source, target }
    }

    fn forward_backward(pair: ForwardBackward) -> Self {
        let ForwardBackward { forward, backward } = pair;
        Self { kind: EdgeKind::ForwardBackward, how: How::Flow, confidence: 1.0, source: forward, target: backward }
    }

    fn node(source: u32, target: u32, how: How, confidence: f32) -> Self {
        Self { kind: EdgeKind::Node, how, confidence, source, target }
    }
}

impl LinkedTrace {
    /// All edges: launches, forward to backward, events to nodes.
    pub(super) fn edges(&self) -> impl Iterator<Item = Edge> + '_ {
        let links = &self.links;
        let launches = (0..links.launched.len()).filter_map(|at| links.launched.pair(at));
        let launches = launches.map(|(source, target)| Edge::launch(source, target));
        launches.chain(links.forward_backward.iter().copied().map(Edge::forward_backward)).chain(self.node_edges())
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
        let mut edges: Vec<_> = links.launch.get(row).into_iter().map(|launch| Edge::launch(launch, here)).collect();
        edges.extend(links.launched.of(row).map(|device| Edge::launch(here, device as u32)));
        let partners = links.forward_backward.iter().filter(|pair| pair.forward == here || pair.backward == here);
        edges.extend(partners.copied().map(Edge::forward_backward));
        edges
    }
}
