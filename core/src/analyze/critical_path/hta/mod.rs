//! The graph as `HolisticTraceAnalysis` makes it, step by step: other nodes, edges and weights than ours.

mod device;
mod edges;
mod frame;
mod lock;
mod queue;
mod stack;
mod word;

use super::CriticalPath;
use super::graph::{PathGraph, PathNode};
use super::longest::longest;
use crate::analyze::selection::Selection;
use crate::id::OptionalColumn;
use crate::sort;
use crate::time::Ts;
use edges::{Edges, generations};
use frame::{Frame, Part};

/// The critical path through the graph of `HolisticTraceAnalysis` 0.6.1.
///
/// Times that are not whole microseconds all over the file are rounded first: starts up, ends down. The last iteration is
/// left out where that is asked for, as that program does when it loads traces. Host events that begin inside the range
/// are looked at, and the device events that they launched.
pub fn critical_path_of_hta(selection: &Selection<'_>, is_last_left_out: bool) -> CriticalPath {
    let frame = Frame::of(selection, is_last_left_out);
    let mut graph = Graph::of(&frame);
    lock::add(&mut graph);
    stack::add(&mut graph);
    device::add(&mut graph);
    graph.finish(selection)
}

/// A node: the row of the frame, whether it is the start, and when in microseconds.
#[derive(Debug, Clone, Copy)]
struct Node {
    row: u32,
    is_start: bool,
    time: i64,
}

/// The graph on its way.
struct Graph<'a> {
    frame: &'a Frame<'a>,
    nodes: Vec<Node>,
    starts: OptionalColumn,
    ends: OptionalColumn,
    edges: Edges,
}

impl<'a> Graph<'a> {
    /// Nodes by time, then by the place of the event in the file.
    fn of(frame: &'a Frame<'a>) -> Self {
        let rows = (0..frame.rows.len()).filter(|row| frame.rows[*row].part == Part::Nodes);
        let nodes: Vec<Node> = rows
            .flat_map(|row| {
                let (start, end) = (frame.rows[row].start, frame.rows[row].end);
                [(true, start), (false, end)].map(|(is_start, time)| Node { row: row as u32, is_start, time })
            })
            .collect();
        let times: Vec<i64> = nodes.iter().map(|node| node.time).collect();
        let nodes: Vec<Node> = sort::places(&times).into_iter().map(|place| nodes[place as usize]).collect();
        let (mut starts, mut ends) = (OptionalColumn::empty(frame.rows.len()), OptionalColumn::empty(frame.rows.len()));
        for (place, node) in nodes.iter().enumerate() {
            let column = if node.is_start { &mut starts } else { &mut ends };
            column.set(node.row as usize, place as u32);
        }
        Self { frame, nodes, starts, ends, edges: Edges::default() }
    }

    fn time(&self, node: u32) -> i64 {
        self.nodes[node as usize].time
    }

    /// The time between two nodes, in microseconds.
    fn gap(&self, source: u32, target: u32) -> i64 {
        self.time(target).saturating_sub(self.time(source))
    }

    fn row(&self, node: u32) -> &frame::Row {
        &self.frame.rows[self.nodes[node as usize].row as usize]
    }

    fn finish(self, selection: &Selection<'_>) -> CriticalPath {
        let base = selection.linked.trace.base_ns;
        let node = |node: &Node| PathNode {
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
