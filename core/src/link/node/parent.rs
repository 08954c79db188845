//! Links nodes with their parents.

use rustc_hash::FxHashMap;

use crate::column::OptionalColumn;
use crate::error::Position;
use crate::trace::Trace;
use crate::warning::{WarningKind, Warnings};

/// Row of the parent of each node.
pub(super) fn link_parents(trace: &Trace, warnings: &mut Warnings) -> OptionalColumn {
    let mut parents = OptionalColumn::empty(trace.nodes.len());
    let mut by_id: FxHashMap<u64, u32> = FxHashMap::default();
    let (mut duplicates, mut missing) = (ParentCandidates::default(), ParentCandidates::default());
    for (row, node) in trace.nodes.iter().enumerate() {
        if *by_id.entry(node.id).or_insert(row as u32) != row as u32 {
            duplicates.add(node.id);
        }
    }
    for (row, node) in trace.nodes.iter().enumerate() {
        let Some(parent) = node.parent.filter(|parent| *parent != node.id) else { continue };
        match by_id.get(&parent) {
            Some(parent) => parents.set(row, *parent),
            None => missing.add(node.id),
        }
    }
    warnings.push_many(WarningKind::DuplicateNode, duplicates.count, || duplicates.position());
    warnings.push_many(WarningKind::MissingParent, missing.count, || missing.position());
    parents
}

#[derive(Debug, Default)]
struct ParentCandidates {
    count: u64,
    first: Option<u64>,
}

impl ParentCandidates {
    fn add(&mut self, id: u64) {
        self.count += 1;
        self.first.get_or_insert(id);
    }

    fn position(&self) -> Position {
        Position { node: self.first, ..Position::default() }
    }
}
