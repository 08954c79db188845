//! Sums the work of each node of replayed graphs over all replays.

use std::borrow::Cow;

use super::selection::Selection;
use super::statistics::Durations;
use crate::sort;
use crate::table::{Column, Table, float, int, put, put_name, text, uint};
use crate::time::sum_ns;

/// A node of a graph: the work at one place of all its replays.
#[derive(Debug, Clone)]
pub(super) struct GraphNodeRow {
    /// The place of the graph among the selected ones, in the order of first launches.
    graph: i64,
    graph_id: Option<u64>,
    /// The place of the node in the graph.
    node: i64,
    graph_node_id: Option<u64>,
    name: String,
    kind: &'static str,
    times: Durations,
    /// `times.total_ns` over that of the whole graph.
    share: f64,
    operator: Option<String>,
    module: Option<String>,
    longest_id: u32,
}

pub(super) static TABLE: Table<Vec<GraphNodeRow>> = Table {
    name: "graph_nodes",
    doc: "the runs of one node of a CUDA or HIP graph, over all its replays",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<GraphNodeRow>>] = &[
    int("graph", |rows, at| Some(rows[at].graph)),
    uint("graph_id", |rows, at| rows[at].graph_id),
    int("node", |rows, at| Some(rows[at].node)),
    uint("graph_node_id", |rows, at| rows[at].graph_node_id),
    text("name", |rows, at, out| put_name(out, &rows[at].name)),
    text("kind", |rows, at, out| put_name(out, rows[at].kind)),
    int("count", |rows, at| Some(rows[at].times.count as i64)),
    int("total_ns", |rows, at| Some(rows[at].times.total_ns)),
    int("mean_ns", |rows, at| Some(rows[at].times.mean_ns)),
    float("std_ns", |rows, at| rows[at].times.std_ns),
    int("min_ns", |rows, at| Some(rows[at].times.min_ns)),
    int("max_ns", |rows, at| Some(rows[at].times.max_ns)),
    float("share", |rows, at| Some(rows[at].share)),
    text("captured_operator", |rows, at, out| rows[at].operator.as_ref().is_some_and(|name| put_name(out, name))),
    text("module", |rows, at, out| rows[at].module.as_ref().is_some_and(|name| put(out, name))),
    int("longest_id", |rows, at| Some(i64::from(rows[at].longest_id))),
];

/// The nodes of all graphs of which a replay is selected, in the order of graphs and places.
///
/// Replays with the same `graph id` and the same work in the same order are of one graph. The order
/// is that of `graph node id`, else that of time.
pub(super) fn graph_nodes(selection: &Selection<'_>) -> Vec<GraphNodeRow> {
    let (linked, events) = (selection.linked, &selection.linked.trace.events);
    let mut found = Vec::new();
    let mut graph = 0;
    for replays in linked.replayed_graphs() {
        let first = found.len();
        for node in 0..replays.work.len() {
            let runs = replays.launches.iter().map(|rows| rows[node] as usize);
            let runs: Vec<usize> = runs.filter(|row| selection.contains(*row)).collect();
            let longest = runs.iter().copied().max_by_key(|row| (selection.dur_ns(*row), std::cmp::Reverse(*row)));
            let Some(longest) = longest else { continue };
            let durs: Vec<_> = runs.iter().map(|row| selection.dur_ns(*row)).collect();
            // Without a capture, the module around the launch is that of the whole graph.
            let is_known = linked.captured(longest).is_some() || linked.trace.stated_module(longest).is_some();
            found.push(GraphNodeRow {
                graph,
                graph_id: replays.id,
                node: node as i64,
                graph_node_id: linked.trace.graph_node_id(longest),
                name: linked.trace.event_name(longest).to_owned(),
                kind: events.kind[longest].name(),
                times: Durations::of(&durs),
                share: 0.0,
                operator: linked.captured_operator(longest).map(Cow::into_owned),
                module: linked.module_name(longest).filter(|_| is_known).map(Cow::into_owned),
                longest_id: events.position.at(longest),
            });
        }
        let own = &mut found[first..];
        let all_ns = sum_ns(own.iter().map(|row: &GraphNodeRow| row.times.total_ns)).max(1) as f64;
        own.iter_mut().for_each(|row| row.share = row.times.total_ns as f64 / all_ns);
        graph += i64::from(!own.is_empty());
    }
    sort::by_key(&mut found, |row| (row.graph, row.node));
    found
}
