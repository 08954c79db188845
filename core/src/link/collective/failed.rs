//! Finds calls that raised an error: their communication never ran.

use rustc_hash::FxHashSet;

use super::call::is_run_name;
use super::row::{Collective, Collectives};
use crate::link::link_method::LinkMethod;
use crate::link::linked_trace::LinkedTrace;
use crate::sort;
use crate::strings::TextCache;
use crate::trace::collective::CollectivePattern;

/// Marks the collectives that raised an error.
pub(super) fn mark(linked: &LinkedTrace, found: &mut Collectives) {
    for row in failed(linked, found) {
        found.rows[row].is_failed = true;
    }
}

/// The rows of collectives that raised an error.
///
/// The Execution Trace has no node of such a call. A backend that works on threads of its own
/// (gloo) has no run of it: a run's record id lies between its operator's and the next operator's.
fn failed(linked: &LinkedTrace, found: &Collectives) -> FxHashSet<usize> {
    let operator = |row: &Collective| record_id(linked, row).filter(|_| is_of_backend_threads(linked, row));
    let runs = run_ids(linked);
    let mut operators: Vec<(u64, usize)> =
        found.rows.iter().enumerate().filter_map(|(at, row)| Some((operator(row)?, at))).collect();
    sort::ascending(&mut operators);
    let lacks_run = |at: usize| {
        let (id, _) = operators[at];
        let next = operators.get(at + 1).map_or(u64::MAX, |(next, _)| *next);
        // Without a later run, the recording may have ended before this one.
        runs.get(runs.partition_point(|run| *run <= id)).is_some_and(|run| *run > next)
    };
    let mut failed: FxHashSet<usize> =
        (0..operators.len()).filter(|at| lacks_run(*at)).map(|at| operators[at].1).collect();
    let lacks_node = found.rows.iter().enumerate().filter(|(_, row)| lacks_node(linked, row)).map(|(at, _)| at);
    failed.extend(lacks_node);
    failed
}

/// Whether a call that ran nowhere has no node, although the Execution Trace has the calls around
/// it.
fn lacks_node(linked: &LinkedTrace, row: &Collective) -> bool {
    let nodes = &linked.links.nodes;
    let is_recorded = |event: u32| nodes.recorded.has_event(&linked.trace, event as usize) == Some(true);
    let ran = row.run.is_some() || !row.device_events.is_empty();
    nodes.how == Some(LinkMethod::RecordId) && row.node.is_none() && !ran && row.event.is_some_and(is_recorded)
}

/// Whether a call is of a backend without records of its own, so that its run tells whether it ran.
fn is_of_backend_threads(linked: &LinkedTrace, row: &Collective) -> bool {
    let name = match (row.event, row.node) {
        (Some(event), _) => linked.trace.event_name(event as usize),
        (None, Some(node)) => linked.trace.strings.text(linked.trace.nodes[node as usize].name),
        (None, None) => return false,
    };
    let is_operator = name.starts_with("c10d::") || name.starts_with("_c10d_functional::");
    is_operator && row.pattern.is_some_and(|pattern| pattern != CollectivePattern::Coalesced)
}

fn record_id(linked: &LinkedTrace, row: &Collective) -> Option<u64> {
    let of_node = |node: u32| linked.trace.nodes[node as usize].record_id;
    let id = row.event.and_then(|event| linked.trace.record_id(event as usize)).or_else(|| row.node.map(of_node));
    id.filter(|id| *id != 0)
}

/// The record ids of all runs on backends' own threads, of both files, sorted.
fn run_ids(linked: &LinkedTrace) -> Vec<u64> {
    let trace = &linked.trace;
    let mut is_run = TextCache::new(&trace.strings, is_run_name);
    let events: Vec<usize> = (0..trace.events.len()).filter(|row| is_run.of(trace.events.name.at(*row))).collect();
    let nodes = trace.nodes.iter().filter(|node| is_run.of(node.name)).map(|node| node.record_id);
    let mut ids: Vec<u64> = nodes.filter(|id| *id != 0).collect();
    ids.extend(events.into_iter().filter_map(|row| trace.record_id(row)));
    sort::ascending(&mut ids);
    ids.dedup();
    ids
}
