//! Finds the time that both files recorded, and calls in it that only one of them has.

use rustc_hash::{FxHashMap, FxHashSet};

use super::call::{calls, is_call, node_order};
use super::name_ids::NameIds;
use super::node_links::NodeLinks;
use crate::error::Position;
use crate::id::TrackId;
use crate::link::event_warnings::count_events;
use crate::link::iteration::Iteration;
use crate::link::link_method::LinkMethod;
use crate::time::{TimeRange, Ts};
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;
use crate::trace::node::NodeKind;
use crate::warning::{WarningKind, Warnings};

/// The time that both files recorded: by thread, from the first linked call to the last.
///
/// A file lacks calls that were under way as its recording began or ended, and whole iterations in
/// which it paused.
#[derive(Debug, Clone, Default)]
pub struct RecordedTime {
    events: FxHashMap<TrackId, TimeRange>,
    nodes: FxHashMap<Option<u64>, (u64, u64)>,
    /// Nodes around the last linked one of their thread: the Kineto trace may end inside them.
    around_last: FxHashSet<u32>,
    /// Iterations without a linked call, in the order of time.
    pauses: Vec<TimeRange>,
}

impl RecordedTime {
    pub(super) fn of(trace: &Trace, links: &NodeLinks, iterations: &[Iteration]) -> Self {
        let mut recorded = Self::default();
        if links.how.is_none() {
            return recorded;
        }
        let events = &trace.events;
        let mut is_linked = vec![false; iterations.len()];
        for row in (0..events.len()).filter(|row| links.node_of_event.get(*row).is_some()) {
            let (start, end) = (events.start.at(row), events.end(row));
            let range = recorded.events.entry(events.track.at(row)).or_insert(TimeRange { start, end });
            *range = TimeRange { start: range.start.min(start), end: range.end.max(end) };
            if let Some(at) = Iteration::at(iterations, start) {
                is_linked[at] = true;
            }
        }
        let mut last: FxHashMap<Option<u64>, u32> = FxHashMap::default();
        for row in (0..trace.nodes.len()).filter(|row| links.event_of_node.get(*row).is_some()) {
            let (thread, order) = (trace.nodes[row].thread, node_order(&trace.nodes[row]));
            let range = recorded.nodes.entry(thread).or_insert((order, order));
            if order >= range.1 {
                last.insert(thread, row as u32);
            }
            *range = (range.0.min(order), range.1.max(order));
        }
        for row in last.into_values() {
            let mut around = links.parent_of_node.get(row as usize);
            while let Some(row) = around.filter(|row| recorded.around_last.insert(*row)) {
                around = links.parent_of_node.get(row as usize);
            }
        }
        let pauses = iterations.iter().zip(is_linked).filter(|(_, is_linked)| !is_linked);
        recorded.pauses = pauses.map(|(iteration, _)| iteration.range()).collect();
        recorded
    }

    /// Whether the Execution Trace was recorded while an event lasted; `None` if it has nothing of
    /// the thread.
    pub fn has_event(&self, trace: &Trace, row: usize) -> Option<bool> {
        let (start, end) = (trace.events.start.at(row), trace.events.end(row));
        let range = self.events.get(&trace.events.track.at(row))?;
        Some(range.start <= start && end <= range.end && !self.is_paused(start))
    }

    /// Whether the Kineto trace was recorded while a node lasted; `None` if it has nothing of the
    /// thread.
    pub fn has_node(&self, trace: &Trace, row: usize) -> Option<bool> {
        let (first, last) = self.nodes.get(&trace.nodes[row].thread)?;
        let order = node_order(&trace.nodes[row]);
        Some(*first <= order && order <= *last && !self.around_last.contains(&(row as u32)))
    }

    fn is_paused(&self, time: Ts) -> bool {
        let after = self.pauses.partition_point(|pause| pause.start <= time);
        after.checked_sub(1).is_some_and(|at| time < self.pauses[at].end)
    }
}

/// Counts the operators that one file lacks.
pub(super) fn count_missing(trace: &Trace, links: &NodeLinks, warnings: &mut Warnings) {
    let events = links.without_node.iter().map(|row| *row as usize);
    count_events(trace, WarningKind::OperatorWithoutNode, events, warnings);
    let first = links.without_event.first().map(|row| trace.nodes[*row as usize].id);
    let position = || Position { node: first, ..Position::default() };
    warnings.push_many(WarningKind::NodeWithoutEvent, links.without_event.len() as u64, position);
}

/// Rows of the operators without a node, and of the nodes of operators without an event, although
/// the other file recorded the calls around them.
///
/// None of two recordings of unlike length that are linked by names: iterations differ.
pub(super) fn missing(trace: &Trace, links: &NodeLinks) -> (Vec<u32>, Vec<u32>) {
    let key = match links.how {
        Some(LinkMethod::RecordId) => Some(ArgKey::RecordId),
        Some(LinkMethod::ExternalId) => Some(ArgKey::ExternalId),
        Some(LinkMethod::Sequence) => None,
        _ => return (Vec::new(), Vec::new()),
    };
    let events = (0..trace.events.len()).filter(|row| {
        let is_unlinked = trace.events.kind[*row] == EventKind::Operator
            && is_call(trace, *row)
            && links.node_of_event.get(*row).is_none();
        is_unlinked && links.recorded.has_event(trace, *row) == Some(true)
    });
    let nodes = (0..trace.nodes.len()).filter(|row| {
        let node = &trace.nodes[*row];
        let is_unlinked =
            links.event_of_node.get(*row).is_none() && node.kind(trace.strings.text(node.name)) == NodeKind::Operator;
        is_unlinked && links.recorded.has_node(trace, *row) == Some(true)
    });
    let (events, nodes): (Vec<_>, Vec<_>) = (events.collect(), nodes.collect());
    let (events, nodes) = match key {
        Some(key) if !events.is_empty() || !nodes.is_empty() => by_ids(trace, key, events, nodes),
        None if !events.is_empty() || !nodes.is_empty() => by_counts(trace, &events, &nodes),
        _ => (events, nodes),
    };
    let rows = |rows: Vec<usize>| rows.into_iter().map(|row| row as u32).collect();
    (rows(events), rows(nodes))
}

/// Rows of the events and nodes with an id that the other file does not have.
fn by_ids(trace: &Trace, key: ArgKey, events: Vec<usize>, nodes: Vec<usize>) -> (Vec<usize>, Vec<usize>) {
    let id = |row: usize| trace.args.identifier(&trace.strings, trace.events.args(row), key).filter(|id| *id != 0);
    let of_nodes: FxHashSet<u64> = trace.nodes.iter().map(|node| node.record_id).collect();
    let of_events: FxHashSet<u64> = calls(trace).filter_map(id).collect();
    let has_no_node = |row: &usize| id(*row).is_some_and(|id| !of_nodes.contains(&id));
    let has_no_event = |row: &usize| {
        let id = trace.nodes[*row].record_id;
        id != 0 && !of_events.contains(&id)
    };
    (events.into_iter().filter(has_no_node).collect(), nodes.into_iter().filter(has_no_event).collect())
}

/// By name, the surplus of events over nodes, and of nodes over events: names of both files only.
fn by_counts(trace: &Trace, events: &[usize], nodes: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let mut names = NameIds::new(&trace.strings);
    let of_events: Vec<u32> = trace.events.name.iter().map(|name| names.name(name)).collect();
    let of_nodes: Vec<u32> = trace.nodes.iter().map(|node| names.name(node.name)).collect();
    let surplus = |rows: &[usize], own: &[u32], others: &[usize], other: &[u32]| {
        let shared: FxHashSet<u32> = other.iter().copied().collect();
        let mut left: FxHashMap<u32, usize> = FxHashMap::default();
        others.iter().for_each(|row| *left.entry(other[*row]).or_default() += 1);
        let is_surplus = |row: &usize| match left.get_mut(&own[*row]) {
            Some(left) if *left > 0 => {
                *left -= 1;
                false
            }
            _ => shared.contains(&own[*row]),
        };
        rows.iter().copied().filter(is_surplus).collect::<Vec<_>>()
    };
    (surplus(events, &of_events, nodes, &of_nodes), surplus(nodes, &of_nodes, events, &of_events))
}
