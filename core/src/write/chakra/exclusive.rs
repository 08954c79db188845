//! Computes the exclusive time of vertices, which simulators add up along a thread.

use super::vertex::{ChakraVertices, VertexOrigin};
use crate::link::LinkedTrace;
use crate::time::{Dur, add_ns};

/// Nanoseconds, a row a vertex; 0 where nothing was measured.
pub(super) fn exclusive(linked: &LinkedTrace, vertices: &ChakraVertices) -> Vec<i64> {
    let mut left: Vec<i64> = vertices.all.iter().map(|vertex| vertex.measured.map_or(0, |(_, Dur(dur))| dur)).collect();
    // The innermost measured vertex of the same thread around each one; callers come first in this
    // order.
    let mut around: Vec<Option<u32>> = vec![None; left.len()];
    for (place, vertex) in vertices.all.iter().enumerate() {
        let VertexOrigin::Node(row) = vertex.origin else { continue };
        let parent = linked.links.nodes.parent_of_node.get(row as usize).and_then(|parent| vertices.node(parent));
        let Some(parent) = parent.map(|parent| parent as usize).filter(|parent| *parent < place) else { continue };
        let is_measured = vertices.all[parent].measured.is_some();
        around[place] = if is_measured { Some(parent as u32) } else { around[parent] };
        let (Some(outer), Some((_, Dur(dur)))) = (around[place], vertex.measured) else { continue };
        if vertices.all[outer as usize].runner == vertex.runner {
            add_ns(&mut left[outer as usize], -dur);
        }
    }
    left.into_iter().map(|ns| ns.max(0)).collect()
}
