//! Every link as an edge, however it was found: one numbering for tables and screens.

use super::LinkedTrace;

/// What an edge means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeKind {
    /// From a launch to the device event it enqueued.
    Launch,
    /// From a forward operator to the backward operator it caused.
    ForwardBackward,
    /// From a host event to the Execution Trace's node of the same call.
    Record,
}

impl EdgeKind {
    /// The name used in tables and requests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Launch => "launch",
            Self::ForwardBackward => "forward_backward",
            Self::Record => "record",
        }
    }

    /// The key that matched.
    pub fn how(self) -> &'static str {
        match self {
            Self::Launch => "correlation",
            Self::ForwardBackward => "flow",
            Self::Record => "record_id",
        }
    }
}

/// A directed link between two rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// What it means.
    pub kind: EdgeKind,
    /// Row of the event it starts at.
    pub source: u32,
    /// Row of the event it ends at; for [`EdgeKind::Record`], of the node.
    pub target: u32,
}

impl LinkedTrace {
    /// All edges: launches, forward to backward, events to nodes.
    pub(super) fn edges(&self) -> impl Iterator<Item = Edge> + '_ {
        let links = &self.links;
        let launches = (0..links.launched.len()).filter_map(|at| links.launched.pair(at));
        let launches = launches.map(|(source, target)| Edge { kind: EdgeKind::Launch, source, target });
        let pairs = links.forward_backward.iter();
        let pairs = pairs.map(|pair| (EdgeKind::ForwardBackward, pair.forward, pair.backward));
        let pairs = pairs.map(|(kind, source, target)| Edge { kind, source, target });
        launches.chain(pairs).chain(self.record_edges())
    }

    fn record_edges(&self) -> impl Iterator<Item = Edge> + '_ {
        let node_of = &self.links.record.node_of_event;
        let edge = |row| Some(Edge { kind: EdgeKind::Record, source: row as u32, target: node_of.get(row)? });
        (0..self.trace.events.len()).filter_map(edge)
    }

    /// The edges that touch an event: a launch's device events or a device event's launch, and its partners.
    pub fn edges_of(&self, row: usize) -> Vec<Edge> {
        let (links, here) = (&self.links, row as u32);
        let mut edges = Vec::new();
        if let Some(source) = links.launch.get(row) {
            edges.push(Edge { kind: EdgeKind::Launch, source, target: here });
        }
        let launched = links.launched.of(row).map(|device| device as u32);
        edges.extend(launched.map(|target| Edge { kind: EdgeKind::Launch, source: here, target }));
        let partners = links.forward_backward.iter().filter(|pair| pair.forward == here || pair.backward == here);
        edges.extend(partners.map(|pair| Edge {
            kind: EdgeKind::ForwardBackward,
            source: pair.forward,
            target: pair.backward,
        }));
        edges
    }
}
