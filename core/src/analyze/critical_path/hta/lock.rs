//! Adds calls that take the runtime's lock, in the order in which they got it.

use super::graph::HtaGraph;
use crate::analyze::critical_path::graph::PathKind;

/// A call's time is its own if it ends before another one that began before it; others wait for the
/// end of that.
pub(super) fn add(graph: &mut HtaGraph<'_>) {
    let mut pending: Vec<u32> = Vec::new();
    let mut last: Option<u32> = None;
    for node in 0..graph.nodes.len() as u32 {
        if !graph.row(node).name.is_locking {
            continue;
        }
        if graph.nodes[node as usize].is_start {
            pending.push(node);
        } else {
            end(graph, node, &mut pending, last);
        }
        last = Some(node);
    }
}

fn end(graph: &mut HtaGraph<'_>, node: u32, pending: &mut Vec<u32>, last: Option<u32>) {
    let event = graph.row(node).event;
    while let Some(start) = pending.pop() {
        if graph.row(start).event == event {
            let gap = graph.gap(start, node);
            graph.edges.add(start, node, gap, PathKind::Operator, event);
        } else {
            graph.edges.add(start, node, 0, PathKind::Dependency, event);
        }
    }
    if let Some(last) = last.filter(|last| !graph.nodes[*last as usize].is_start) {
        graph.edges.add(last, node, 0, PathKind::Dependency, event);
    }
}
