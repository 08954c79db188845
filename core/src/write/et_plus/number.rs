//! Renumbers nodes and their device work from 0, in the order of the nodes' ids.

use rustc_hash::FxHashMap;

use super::kernel::NodeKernels;
use crate::trace::Trace;

/// The order of nodes, and their new ids.
pub(super) struct NodeNumbers {
    /// Rows of the nodes by their ids.
    pub(super) order: Vec<u32>,
    /// New id of each node; its device work has those behind it.
    pub(super) of_node: Vec<u64>,
    by_id: FxHashMap<u64, u64>,
    next: u64,
}

impl NodeNumbers {
    pub(super) fn new(trace: &Trace, kernels: &NodeKernels) -> Self {
        let mut order: Vec<u32> = (0..trace.nodes.len() as u32).collect();
        order.sort_by_key(|row| trace.nodes[*row as usize].id);
        let mut numbers =
            Self { of_node: vec![0; order.len()], by_id: FxHashMap::default(), order: Vec::new(), next: 0 };
        for row in &order {
            numbers.of_node[*row as usize] = numbers.next;
            numbers.by_id.entry(trace.nodes[*row as usize].id).or_insert(numbers.next);
            numbers.next += 1 + kernels.of(*row).len() as u64;
        }
        Self { order, ..numbers }
    }

    /// The new id of `id`; a fresh one for ids that are not in the file.
    pub(super) fn of_id(&mut self, id: u64) -> u64 {
        *self.by_id.entry(id).or_insert_with(|| {
            self.next += 1;
            self.next - 1
        })
    }
}
