//! The dependency graph: starts and ends of events, and edges that lead forward in time.

use serde::{Deserialize, Serialize};

use crate::sort;
use crate::time::Ts;

/// The kind of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PathKind {
    /// Time inside a host event that is in none of the events inside it.
    Operator,
    /// An order without a duration: on a thread, on a stream, or between a launch and its work.
    Dependency,
    /// From the start of a call to the start of its device work, where nothing else delayed that.
    Launch,
    /// Work of a device.
    Kernel,
    /// From the end of work to the start of the next on the stream, which had been enqueued by
    /// then.
    KernelKernel,
    /// From the end of work to its waiter.
    Sync,
    /// Time of a thread outside of operators and calls; of a path through all ranks.
    Between,
}

impl PathKind {
    /// The name used in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Dependency => "dependency",
            Self::Launch => "launch",
            Self::Kernel => "kernel",
            Self::KernelKernel => "kernel_kernel",
            Self::Sync => "sync",
            Self::Between => "between",
        }
    }
}

/// The start or the end of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathNode {
    /// Row of the event.
    pub event: u32,
    /// Whether it is the start.
    pub is_start: bool,
    /// The time, clipped to the selection.
    pub time: Ts,
}

/// A dependency between two nodes, with its duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathEdge {
    /// Place of the earlier node.
    pub source: u32,
    /// Place of the later node.
    pub target: u32,
    /// The time it takes; never more than lies between the two.
    pub weight_ns: i64,
    /// The kind of dependency.
    pub kind: PathKind,
    /// Row of the event that it is put to.
    pub event: u32,
}

/// Nodes, and edges in an order that is always the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PathGraph {
    /// Starts and ends.
    pub nodes: Vec<PathNode>,
    /// Edges, as places in `nodes`.
    pub edges: Vec<PathEdge>,
    /// Places of nodes in an order in which every edge leads forward.
    pub order: Vec<u32>,
}

/// The order of nodes at equal times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NodePriority {
    /// Work that others may have waited for ends.
    DeviceEnd,
    /// Threads go on.
    Host,
    /// Work begins; work without a duration also ends.
    DeviceStart,
}

/// A graph that is being made.
#[derive(Debug, Default)]
pub(super) struct PathGraphBuilder {
    nodes: Vec<PathNode>,
    turns: Vec<NodePriority>,
    edges: Vec<PathEdge>,
}

impl PathGraphBuilder {
    pub(super) fn node(&mut self, node: PathNode, turn: NodePriority) -> u32 {
        self.nodes.push(node);
        self.turns.push(turn);
        self.nodes.len() as u32 - 1
    }

    pub(super) fn time(&self, node: u32) -> Ts {
        self.nodes[node as usize].time
    }

    pub(super) fn turn(&self, node: u32) -> NodePriority {
        self.turns[node as usize]
    }

    /// Whether an edge may lead from a node to another: by their times, their turns and their
    /// making.
    pub(super) fn is_before(&self, source: u32, target: u32) -> bool {
        let place = |node: u32| (self.time(node), self.turn(node), node);
        place(source) < place(target)
    }

    /// The time between two nodes, in nanoseconds.
    pub(super) fn gap_ns(&self, source: u32, target: u32) -> i64 {
        self.time(target).since(self.time(source)).0.max(0)
    }

    pub(super) fn edge(&mut self, edge: PathEdge) {
        self.edges.push(edge);
    }

    /// An edge that takes no time.
    pub(super) fn order(&mut self, source: u32, target: u32) {
        let event = self.nodes[target as usize].event;
        self.edge(PathEdge { source, target, weight_ns: 0, kind: PathKind::Dependency, event });
    }

    /// The graph, its nodes in the order of time, of turns and of their making; without edges that
    /// do not lead forward in that order. So it has no cycle.
    pub(super) fn finish(self) -> PathGraph {
        let (turns, num_nodes) = (&self.turns, self.nodes.len() as u32);
        let of_turn = |turn| (0..num_nodes).filter(move |node| turns[*node as usize] == turn);
        let by_turn: Vec<u32> = [NodePriority::DeviceEnd, NodePriority::Host, NodePriority::DeviceStart]
            .into_iter()
            .flat_map(of_turn)
            .collect();
        let times: Vec<i64> = by_turn.iter().map(|node| self.time(*node).0).collect();
        let order: Vec<u32> = sort::places(&times).into_iter().map(|place| by_turn[place as usize]).collect();
        let mut places = vec![0; order.len()];
        for (place, node) in order.iter().enumerate() {
            places[*node as usize] = place as u32;
        }
        let placed = |edge: PathEdge| {
            let (source, target) = (places[edge.source as usize], places[edge.target as usize]);
            (source < target).then_some(PathEdge { source, target, ..edge })
        };
        let nodes: Vec<_> = order.iter().map(|node| self.nodes[*node as usize]).collect();
        let order = (0..nodes.len() as u32).collect();
        PathGraph { nodes, edges: self.edges.into_iter().filter_map(placed).collect(), order }
    }
}
