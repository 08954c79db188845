//! Cuts an Execution Trace to one iteration or to one node with its children.

use rustc_hash::{FxHashMap, FxHashSet};

use super::execution_draft::ExecutionDraft;
use crate::error::{Error, ErrorKind};
use crate::trace::iteration::iteration_number;
use crate::trace::node::{Node, NodeKind, NodeSpan};

/// Keeps the nodes from a step of the profiler up to the next; where no node is one, those of a
/// span.
pub(super) fn keep_iteration(draft: &mut ExecutionDraft, number: i64, spans: &[NodeSpan]) -> Result<(), Error> {
    let step = |node: &Node| Some((node.id, iteration_number(draft.name(node))?));
    let mut steps: Vec<_> = draft.nodes.iter().filter_map(step).collect();
    steps.sort_unstable();
    // An observer that was started inside of a step has no node for it.
    let is_known = |number: i64| steps.iter().any(|(_, other)| *other == number);
    let are_all = spans.iter().all(|span| is_known(span.iteration));
    if steps.is_empty() || !are_all && spans.iter().any(|span| span.iteration == number) {
        return keep_span(draft, number, spans);
    }
    let Some(at) = steps.iter().position(|(_, other)| *other == number) else {
        return Err(no_iteration(steps.iter().map(|(_, number)| *number), number));
    };
    let start = steps[at].0;
    let end = steps[at..].iter().map(|(id, _)| *id).find(|id| *id > start);
    keep(draft, |node| node.id >= start && end.is_none_or(|end| node.id < end));
    Ok(())
}

/// Keeps the nodes that were entered in an iteration, and those that they are inside of.
fn keep_span(draft: &mut ExecutionDraft, number: i64, spans: &[NodeSpan]) -> Result<(), Error> {
    let Some(span) = spans.iter().find(|span| span.iteration == number) else {
        return Err(no_iteration(spans.iter().map(|span| span.iteration), number));
    };
    let parents: FxHashMap<u64, u64> = draft.nodes.iter().filter_map(|node| Some((node.id, node.parent?))).collect();
    let mut kept = FxHashSet::default();
    for node in draft.nodes.iter().filter(|node| (span.first..=span.last).contains(&node.order())) {
        let mut at = Some(node.id);
        while let Some(id) = at.filter(|id| kept.insert(*id)) {
            at = parents.get(&id).copied();
        }
    }
    keep(draft, |node| kept.contains(&node.id));
    Ok(())
}

/// Names the iterations that there are.
fn no_iteration(known: impl Iterator<Item = i64>, number: i64) -> Error {
    let numbers: Vec<_> = known.map(|number| number.to_string()).collect();
    if numbers.is_empty() {
        let expected = format!("ProfilerStep#{number} in the Execution Trace or in its linked Kineto trace");
        return refused(expected, String::from("no ProfilerStep in either"));
    }
    refused(format!("an iteration of the Execution Trace ({})", numbers.join(", ")), number.to_string())
}

/// Keeps a node and all below it.
pub(super) fn keep_subtree(draft: &mut ExecutionDraft, id: u64) -> Result<(), Error> {
    let mut children: FxHashMap<u64, Vec<u64>> = FxHashMap::default();
    for node in &draft.nodes {
        children.entry(node.parent.unwrap_or(0)).or_default().push(node.id);
    }
    if !draft.nodes.iter().any(|node| node.id == id) {
        return Err(refused(String::from("the id of a node of the Execution Trace"), id.to_string()));
    }
    let mut kept = FxHashSet::from_iter([id]);
    let mut open = vec![id];
    while let Some(parent) = open.pop() {
        let below = children.get(&parent).into_iter().flatten().copied();
        open.extend(below.filter(|child| kept.insert(*child)));
    }
    keep(draft, |node| kept.contains(&node.id));
    Ok(())
}

fn refused(expected: String, found: String) -> Error {
    ErrorKind::Request { expected, found }.into()
}

/// Keeps the wanted nodes, and those that every Execution Trace needs; reparents orphans.
fn keep(draft: &mut ExecutionDraft, is_wanted: impl Fn(&Node) -> bool) {
    let kind = |node: &Node| node.kind(draft.strings.text(node.name));
    let is_kept = |node: &&Node| matches!(kind(node), NodeKind::Root | NodeKind::ProcessGroup) || is_wanted(node);
    let mut nodes: Vec<Node> = draft.nodes.iter().filter(is_kept).cloned().collect();
    let ids: FxHashSet<u64> = nodes.iter().map(|node| node.id).collect();
    let roots: Vec<_> = nodes.iter().filter(|node| kind(node) == NodeKind::Root).cloned().collect();
    let root_of = |node: &Node| {
        let is_thread = |root: &&Node| root.thread == node.thread && root.parent != Some(root.id);
        let is_process = |root: &&Node| root.parent == Some(root.id);
        roots.iter().find(is_thread).or_else(|| roots.iter().find(is_process)).map(|root| root.id)
    };
    for node in &mut nodes {
        if node.parent.is_some_and(|parent| !ids.contains(&parent)) {
            node.parent = root_of(node).or(node.parent);
        }
    }
    draft.nodes = nodes;
}
