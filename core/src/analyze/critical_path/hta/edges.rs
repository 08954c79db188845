//! Edges in the order in which nodes were first joined; a second edge between two nodes replaces
//! the first.

use crate::analyze::critical_path::graph::{PathEdge, PathKind};

/// Edges as they come.
#[derive(Debug, Default)]
pub(super) struct HtaEdges(Vec<PathEdge>);

impl HtaEdges {
    /// Joins two nodes; the weight is in microseconds.
    pub(super) fn add(&mut self, source: u32, target: u32, weight: i64, kind: PathKind, event: u32) {
        self.0.push(PathEdge { source, target, weight_ns: weight.saturating_mul(1_000), kind, event });
    }

    /// One edge between two nodes.
    pub(super) fn distinct(self, num_nodes: usize) -> Vec<PathEdge> {
        let mut list = self.0;
        let onwards = OutgoingEdges::new(num_nodes, &list);
        // By target: the first edge to it, of the source that is looked at.
        let mut firsts = vec![(u32::MAX, 0); num_nodes];
        let mut is_first = vec![true; list.len()];
        for source in 0..num_nodes as u32 {
            for place in onwards.of(source) {
                let edge = list[*place as usize];
                let (known, first) = &mut firsts[edge.target as usize];
                if *known == source {
                    list[*first as usize] = edge;
                    is_first[*place as usize] = false;
                } else {
                    (*known, *first) = (source, *place);
                }
            }
        }
        let mut is_first = is_first.into_iter();
        list.retain(|_| is_first.next().unwrap_or(true));
        list
    }
}

/// Nodes in topological generations: first nodes without predecessors, then their successors, and
/// so on, each generation in order of discovery. Nodes in or behind a cycle are skipped.
pub(super) fn generations(num_nodes: usize, edges: &[PathEdge]) -> Vec<u32> {
    let onwards = OutgoingEdges::new(num_nodes, edges);
    let mut waits_for = vec![0_u32; num_nodes];
    edges.iter().for_each(|edge| waits_for[edge.target as usize] += 1);
    let mut is_seen = vec![false; num_nodes];
    let ends = edges.iter().flat_map(|edge| [edge.source, edge.target]);
    let mut order: Vec<u32> = ends.filter(|node| !std::mem::replace(&mut is_seen[*node as usize], true)).collect();
    order.retain(|node| waits_for[*node as usize] == 0);
    let mut at = 0;
    while let Some(node) = order.get(at).copied() {
        at += 1;
        for edge in onwards.of(node) {
            let target = edges[*edge as usize].target;
            waits_for[target as usize] -= 1;
            if waits_for[target as usize] == 0 {
                order.push(target);
            }
        }
    }
    order
}

/// Edges by the node that they lead away from, each node's in their order.
struct OutgoingEdges {
    starts: Vec<u32>,
    edges: Vec<u32>,
}

impl OutgoingEdges {
    fn new(num_nodes: usize, list: &[PathEdge]) -> Self {
        let mut starts = vec![0_u32; num_nodes + 1];
        list.iter().for_each(|edge| starts[edge.source as usize + 1] += 1);
        for node in 1..starts.len() {
            starts[node] += starts[node - 1];
        }
        let (mut next, mut edges) = (starts.clone(), vec![0_u32; list.len()]);
        for (place, edge) in list.iter().enumerate() {
            let at = &mut next[edge.source as usize];
            edges[*at as usize] = place as u32;
            *at += 1;
        }
        Self { starts, edges }
    }

    fn of(&self, node: u32) -> &[u32] {
        &self.edges[self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize]
    }
}
