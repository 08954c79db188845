//! Call trees of one iteration, down to launched kernels.

use std::hash::Hasher as _;

use rustc_hash::{FxHashSet, FxHasher};

use super::side::DiffSide;
use crate::sort;
use crate::time::Ts;
use crate::trace::kind::EventKind;

/// A forest of calls; a node for each call and each piece of device work.
#[derive(Debug, Default)]
pub(super) struct CallTree {
    /// Row of each node's event.
    pub(super) row: Vec<u32>,
    pub(super) parent: Vec<Option<u32>>,
    pub(super) children: Vec<Vec<u32>>,
    /// Equal for equal trees of names.
    pub(super) hash: Vec<u32>,
    /// The outermost, in the order of time.
    pub(super) roots: Vec<u32>,
}

impl CallTree {
    /// The tree of the typical iteration, or of the whole selection.
    pub(super) fn of(side: &DiffSide<'_>) -> Self {
        let (rows, time) = (rows(side), times(side));
        let mut tree = Self::default();
        let mut node_of = vec![u32::MAX; side.selection.linked.trace.events.len()];
        for row in &rows {
            node_of[*row as usize] = tree.row.len() as u32;
            tree.row.push(*row);
        }
        tree.children = vec![Vec::new(); rows.len()];
        let around = around(side);
        for (node, row) in rows.iter().enumerate() {
            let parent = around(*row).map(|row| node_of[row as usize]).filter(|parent| *parent != u32::MAX);
            tree.parent.push(parent);
            match parent {
                Some(parent) => tree.children[parent as usize].push(node as u32),
                None => tree.roots.push(node as u32),
            }
        }
        let Self { row, children, .. } = &mut tree;
        children.iter_mut().for_each(|children| sort::by_key(children, |node| (time(row[*node as usize]), *node)));
        tree.hash = tree.hashes(side);
        tree
    }

    /// From the innermost outwards: a parent stands before its children.
    fn hashes(&self, side: &DiffSide<'_>) -> Vec<u32> {
        let mut hashes = vec![0; self.row.len()];
        for node in (0..self.row.len()).rev() {
            let mut hasher = FxHasher::default();
            hasher.write_u32(side.key[self.row[node] as usize]);
            self.children[node].iter().for_each(|child| hasher.write_u32(hashes[*child as usize]));
            hashes[node] = (hasher.finish() >> 32) as u32;
        }
        hashes
    }
}

/// Rows of calls, those around others first, and then of device work, by the time of its launch.
fn rows(side: &DiffSide<'_>) -> Vec<u32> {
    let (linked, typical) = (side.selection.linked, side.typical());
    let (links, events) = (&linked.links, &linked.trace.events);
    let steps: FxHashSet<u32> = links.iterations.iter().map(|iteration| iteration.event).collect();
    let is_looked_at = |row: usize| side.selection.contains(row) && (typical.is_none() || side.sample(row) == typical);
    let is_call = |row: &u32| {
        let kind = events.kind[*row as usize];
        let is_operator = kind == EventKind::Operator && side.compared.operators;
        let is_call = (is_operator || kind == EventKind::Annotation) && !steps.contains(row);
        is_call && !linked.trace.is_on_device(*row as usize) && is_looked_at(*row as usize)
    };
    let mut rows: Vec<u32> = links.nesting.order.iter().copied().filter(is_call).collect();
    let work = side.device_work().filter(|(sample, _)| side.compared.device && typical.is_none_or(|at| at == *sample));
    let mut work: Vec<u32> = work.map(|(_, row)| row as u32).collect();
    let time = times(side);
    sort::by_key(&mut work, |row| (time(*row), *row));
    rows.extend(work);
    rows
}

/// When a call began, or device work was launched, as far as that is known.
fn times<'a>(side: &'a DiffSide<'_>) -> impl Fn(u32) -> Ts + 'a {
    let (links, events) = (&side.selection.linked.links, &side.selection.linked.trace.events);
    move |row| {
        let launch = links.launch.get(row as usize).filter(|_| events.kind[row as usize].is_device_work());
        events.start.at(launch.unwrap_or(row) as usize)
    }
}

/// The call that a call or device work is inside of.
fn around<'a>(side: &'a DiffSide<'_>) -> impl Fn(u32) -> Option<u32> + 'a {
    let (links, events) = (&side.selection.linked.links, &side.selection.linked.trace.events);
    let is_call = |row: usize| matches!(events.kind[row], EventKind::Operator | EventKind::Annotation);
    let innermost = links.nesting.innermost(is_call);
    move |row| {
        let is_work = events.kind[row as usize].is_device_work();
        if is_work { links.operator.get(row as usize) } else { innermost.get(row as usize) }
    }
}
