//! Finds graph launches of which a part of the work is in the file.
//!
//! Each launch of one graph runs the same nodes. Where most launches have all of them, the others
//! lost some.

use std::collections::BTreeMap;

use super::launch::LaunchedEvents;
use crate::id::StrId;
use crate::sort;
use crate::strings::TextCache;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::vendor;

/// Rows of the launches, ascending.
pub(super) fn find(trace: &Trace, launched: &LaunchedEvents) -> Vec<u32> {
    let mut is_graph = TextCache::new(&trace.strings, vendor::launches_graph);
    let mut graphs: BTreeMap<(StrId, i64), Vec<(u32, usize)>> = BTreeMap::new();
    for work in launched.pairs().chunk_by(|(launch, _), (next, _)| launch == next) {
        let launch = work[0].0;
        if is_graph.of(trace.events.name.at(launch as usize)) {
            let id = |row: u32, key| trace.args.integer(&trace.strings, trace.events.args(row as usize), key);
            let nodes = sort::distinct(work.iter().filter_map(|(_, row)| id(*row, ArgKey::GraphNodeId)));
            if let Some(graph) = id(work[0].1, ArgKey::GraphId).filter(|_| !nodes.is_empty()) {
                graphs.entry((trace.process_of(launch as usize), graph)).or_default().push((launch, nodes.len()));
            }
        }
    }
    let mut rows: Vec<u32> = graphs.into_values().flat_map(partial).collect();
    sort::ascending(&mut rows);
    rows
}

/// The launches of one graph with fewer nodes than most.
fn partial(launches: Vec<(u32, usize)>) -> Vec<u32> {
    let most = launches.iter().map(|(_, num)| *num).max().unwrap_or_default();
    let num_whole = launches.iter().filter(|(_, num)| *num == most).count();
    if num_whole * 2 < launches.len() {
        return Vec::new();
    }
    launches.into_iter().filter(|(_, num)| *num < most).map(|(row, _)| row).collect()
}
