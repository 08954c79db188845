//! Finds the longest path through an acyclic graph.

use super::graph::{PathEdge, PathGraph};
use crate::time::add_ns;

/// Edges of the longest path, from its start to its end, as places in `edges`.
///
/// `length(node) = max over edges into it (length(source) + weight)`, in one pass over the nodes in
/// their order. The first of equal edges is taken, and of equal ends the first in the order. A
/// weight below zero counts as zero. O(nodes + edges).
pub(super) fn longest(graph: &PathGraph) -> Vec<u32> {
    let (num_nodes, edges) = (graph.nodes.len(), &graph.edges);
    let into = IncomingEdges::new(num_nodes, edges);
    let mut lengths = vec![0_i64; num_nodes];
    let mut best = vec![NONE; num_nodes];
    let mut end = None;
    for node in graph.order.iter().copied() {
        let at = node as usize;
        for edge in into.of(at) {
            let PathEdge { source, weight_ns, .. } = edges[*edge as usize];
            let mut length = lengths[source as usize];
            add_ns(&mut length, weight_ns.max(0));
            if best[at] == NONE || length > lengths[at] {
                (lengths[at], best[at]) = (length, *edge);
            }
        }
        if end.is_none_or(|end: u32| lengths[at] > lengths[end as usize]) {
            end = Some(node);
        }
    }
    let mut path = Vec::new();
    let mut node = end;
    while let Some(edge) = node.map(|node| best[node as usize]).filter(|edge| *edge != NONE) {
        path.push(edge);
        node = Some(edges[edge as usize].source);
    }
    path.reverse();
    path
}

/// No edge.
const NONE: u32 = u32::MAX;

/// Edges by the node they lead to, each node's in their order.
struct IncomingEdges {
    starts: Vec<u32>,
    edges: Vec<u32>,
}

impl IncomingEdges {
    fn new(num_nodes: usize, edges: &[PathEdge]) -> Self {
        let mut starts = vec![0_u32; num_nodes + 1];
        for edge in edges {
            starts[edge.target as usize + 1] += 1;
        }
        for node in 1..starts.len() {
            starts[node] += starts[node - 1];
        }
        let (mut next, mut sorted) = (starts.clone(), vec![0_u32; edges.len()]);
        for (place, edge) in edges.iter().enumerate() {
            let at = &mut next[edge.target as usize];
            sorted[*at as usize] = place as u32;
            *at += 1;
        }
        Self { starts, edges: sorted }
    }

    fn of(&self, node: usize) -> &[u32] {
        &self.edges[self.starts[node] as usize..self.starts[node + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::graph::{PathKind, PathNode};
    use super::*;
    use crate::time::Ts;

    /// The length of the longest path from a node on, by trying all.
    fn exhaustive(edges: &[PathEdge], node: u32) -> i64 {
        let onwards = edges.iter().filter(|edge| edge.source == node);
        onwards.map(|edge| edge.weight_ns + exhaustive(edges, edge.target)).max().unwrap_or(0)
    }

    proptest! {
        #[test]
        fn no_path_is_longer(pairs in prop::collection::vec((0..9_u32, 0..9_u32, 0..20_i64), 0..20)) {
            let forward = pairs.into_iter().filter(|(source, target, _)| source < target);
            let edge = |(source, target, weight_ns)| {
                PathEdge { source, target, weight_ns, kind: PathKind::Kernel, event: 0 }
            };
            let edges: Vec<_> = forward.map(edge).collect();
            let nodes = vec![PathNode { event: 0, is_start: true, time: Ts(0) }; 9];
            let path = longest(&PathGraph { nodes, edges: edges.clone(), order: (0..9).collect() });
            let steps: Vec<_> = path.iter().map(|at| edges[*at as usize]).collect();
            prop_assert!(steps.windows(2).all(|pair| pair[0].target == pair[1].source));
            let length: i64 = steps.iter().map(|edge| edge.weight_ns).sum();
            prop_assert_eq!(length, (0..9).map(|node| exhaustive(&edges, node)).max().unwrap());
        }
    }
}
