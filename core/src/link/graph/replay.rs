//! Finds the work of replayed graphs.

use rustc_hash::FxHashMap;

use super::launch_view::LaunchView;
use crate::id::StrId;
use crate::sort;
use crate::strings::TextCache;
use crate::time::Ts;
use crate::trace::kind::EventKind;
use crate::vendor::launches_graph;

/// Kinds and names of the work of a graph, in its order.
type GraphWork = Vec<(EventKind, StrId)>;

/// Launches of one graph: their work has the same names in the same order.
#[derive(Debug, Clone)]
pub(crate) struct ReplayedGraph {
    /// The number of the graph, if the file has it.
    pub id: Option<u64>,
    /// Kinds and names of its work.
    pub work: GraphWork,
    /// Rows of the work of each launch, in the same order.
    pub launches: Vec<Vec<u32>>,
    /// When it was first launched.
    pub first: Ts,
    /// Whether all work has the number of its node: they ascend in the order of the capture.
    pub has_nodes: bool,
    /// Whether the order of time is that of the capture, as all ran on one stream.
    pub is_in_order: bool,
}

/// Graphs in the order of their first launch.
pub(in crate::link) fn replays(view: LaunchView<'_>) -> Vec<ReplayedGraph> {
    let (trace, events) = (view.trace, &view.trace.events);
    let mut is_graph = TextCache::new(&trace.strings, launches_graph);
    let mut places: FxHashMap<(Option<u64>, GraphWork), usize> = FxHashMap::default();
    let mut graphs: Vec<ReplayedGraph> = Vec::new();
    for pairs in view.launched.pairs().chunk_by(|(launch, _), (next, _)| launch == next) {
        let launch = pairs[0].0 as usize;
        if !is_graph.of(events.name.at(launch)) && trace.graph_id(pairs[0].1 as usize).is_none() {
            continue;
        }
        let mut rows: Vec<u32> = pairs.iter().map(|(_, row)| *row).collect();
        rows.retain(|row| events.kind[*row as usize].is_device_work());
        if rows.is_empty() {
            continue;
        }
        let node = |row: &u32| trace.graph_node_id(*row as usize);
        let mut nodes: Vec<_> = rows.iter().filter_map(node).collect();
        sort::ascending(&mut nodes);
        nodes.dedup();
        let has_nodes = nodes.len() == rows.len();
        if has_nodes {
            sort::by_key(&mut rows, |row| node(row));
        } else {
            sort::by_key(&mut rows, |row| (events.start.at(*row as usize), *row));
        }
        let work: Vec<_> = rows.iter().map(|row| (events.kind[*row as usize], events.name.at(*row as usize))).collect();
        let id = trace.graph_id(rows[0] as usize);
        let track = events.track.at(rows[0] as usize);
        let is_in_order = has_nodes || rows.iter().all(|row| events.track.at(*row as usize) == track);
        let place = *places.entry((id, work.clone())).or_insert_with(|| {
            let first = events.start.at(launch);
            graphs.push(ReplayedGraph { id, work, launches: Vec::new(), first, has_nodes, is_in_order });
            graphs.len() - 1
        });
        let graph = &mut graphs[place];
        graph.first = graph.first.min(events.start.at(launch));
        graph.is_in_order &= is_in_order;
        graph.launches.push(rows);
    }
    graphs
}
