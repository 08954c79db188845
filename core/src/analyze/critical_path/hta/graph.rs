//! The graph under construction, with times in microseconds.

use super::edges::{HtaEdges, generations};
use super::frame::{GraphRole, HtaEvent, HtaFrame};
use crate::analyze::critical_path::graph::{PathGraph, PathNode};
use crate::analyze::critical_path::longest::longest;
use crate::analyze::critical_path::path::CriticalPath;
use crate::analyze::selection::Selection;
use crate::column::OptionalColumn;
use crate::sort;
use crate::time::Ts;

/// A node: the row of the frame, whether it is the start, and when in microseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct HtaNode {
    pub(super) row: u32,
    pub(super) is_start: bool,
    pub(super) time: i64,
}

/// The graph on its way.
pub(super) struct HtaGraph<'a> {
    pub(super) frame: &'a HtaFrame<'a>,
    pub(super) nodes: Vec<HtaNode>,
    pub(super) starts: OptionalColumn,
    pub(super) ends: OptionalColumn,
    pub(super) edges: HtaEdges,
}

impl<'a> HtaGraph<'a> {
    /// Nodes by time, then by the place of the event in the file.
    pub(super) fn of(frame: &'a HtaFrame<'a>) -> Self {
        let rows = (0..frame.rows.len()).filter(|row| frame.rows[*row].part == GraphRole::Nodes);
        let nodes: Vec<HtaNode> = rows
            .flat_map(|row| {
                let (start, end) = (frame.rows[row].start, frame.rows[row].end);
                [(true, start), (false, end)].map(|(is_start, time)| HtaNode { row: row as u32, is_start, time })
            })
            .collect();
        let times: Vec<i64> = nodes.iter().map(|node| node.time).collect();
        let nodes: Vec<HtaNode> = sort::places(&times).into_iter().map(|place| nodes[place as usize]).collect();
        let (mut starts, mut ends) = (OptionalColumn::empty(frame.rows.len()), OptionalColumn::empty(frame.rows.len()));
        for (place, node) in nodes.iter().enumerate() {
            let column = if node.is_start { &mut starts } else { &mut ends };
            column.set(node.row as usize, place as u32);
        }
        Self { frame, nodes, starts, ends, edges: HtaEdges::default() }
    }

    pub(super) fn time(&self, node: u32) -> i64 {
        self.nodes[node as usize].time
    }

    /// The time between two nodes, in microseconds.
    pub(super) fn gap(&self, source: u32, target: u32) -> i64 {
        self.time(target).saturating_sub(self.time(source))
    }

    pub(super) fn row(&self, node: u32) -> &HtaEvent {
        &self.frame.rows[self.nodes[node as usize].row as usize]
    }

    pub(super) fn finish(self, selection: &Selection<'_>) -> CriticalPath {
        let base = selection.linked.trace.base_ns;
        let node = |node: &HtaNode| PathNode {
            event: self.frame.rows[node.row as usize].event,
            is_start: node.is_start,
            time: Ts(node.time.saturating_mul(1_000).saturating_add(base)),
        };
        let nodes: Vec<_> = self.nodes.iter().map(node).collect();
        let edges = self.edges.distinct(nodes.len());
        let order = generations(nodes.len(), &edges);
        let graph = PathGraph { nodes, edges, order };
        let path = longest(&graph);
        CriticalPath { graph, path }
    }
}
