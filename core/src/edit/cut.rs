//! A part of the nodes: one iteration, or one node with all below it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Draft;
use crate::error::{Error, ErrorKind};
use crate::trace::iteration::iteration_number;
use crate::trace::node::{Node, NodeKind};

/// Keeps the nodes from a step of the profiler up to the next.
pub(super) fn keep_iteration(draft: &mut Draft, number: i64) -> Result<(), Error> {
    let step = |node: &Node| Some((node.id, iteration_number(draft.name(node))?));
    let mut steps: Vec<_> = draft.nodes.iter().filter_map(step).collect();
    steps.sort_unstable();
    let Some(at) = steps.iter().position(|(_, other)| *other == number) else {
        let numbers: Vec<_> = steps.iter().map(|(_, number)| number.to_string()).collect();
        let known = if numbers.is_empty() { String::from("none") } else { numbers.join(", ") };
        return Err(refused(format!("an iteration of the Execution Trace ({known})"), number.to_string()));
    };
    let start = steps[at].0;
    let end = steps[at..].iter().map(|(id, _)| *id).find(|id| *id > start);
    keep(draft, |node| node.id >= start && end.is_none_or(|end| node.id < end));
    Ok(())
}

/// Keeps a node and all below it.
pub(super) fn keep_subtree(draft: &mut Draft, id: u64) -> Result<(), Error> {
    let mut children: FxHashMap<u64, Vec<u64>> = FxHashMap::default();
    for node in &draft.nodes {
        children.entry(node.parent.unwrap_or(0)).or_default().push(node.id);
    }
    if !draft.nodes.iter().any(|node| node.id == id) {
        return Err(refused(String::from("the id of a node"), id.to_string()));
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

/// Keeps what is wanted, and what every Execution Trace needs; gives those a parent that have none any more.
fn keep(draft: &mut Draft, is_wanted: impl Fn(&Node) -> bool) {
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
