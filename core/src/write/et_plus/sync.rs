//! Finds the device work that nodes wait for.

use rustc_hash::FxHashMap;

use super::kernel::{NodeKernels, event};
use super::number::NodeNumbers;
use crate::id::TrackId;
use crate::link::{Edge, LinkedTrace};
use crate::time::Ts;

/// Pairs of new ids, waiter and awaited, sorted.
///
/// A call is no node, so the next node that its thread begins waits. The node around the call began
/// earlier, may itself have launched the awaited work, and contains the time of the wait.
#[derive(Debug, Default)]
pub(super) struct SyncPairs(Vec<(u64, u64)>);

impl SyncPairs {
    /// Waits from the links; rows that are not written are skipped.
    pub(super) fn of_trace(linked: &LinkedTrace, numbers: &NodeNumbers, kernels: &NodeKernels) -> Self {
        let device = device_ids(numbers, kernels);
        let hosts = TimedNodes::new(linked, numbers);
        let id = |row: u32| device.get(&row).copied();
        let pair = |edge: &Edge| {
            let waits = id(edge.target).or_else(|| hosts.next(linked, edge.target as usize))?;
            // Ids ascend with time; with no edge against them there is no circle.
            Some((waits, id(edge.source)?)).filter(|(waits, source)| source < waits)
        };
        let mut pairs: Vec<_> = linked.sync_edges().iter().filter_map(pair).collect();
        pairs.sort_unstable();
        pairs.dedup();
        Self(pairs)
    }

    /// New ids of the device work that was waited for, ascending.
    pub(super) fn of(&self, id: u64) -> impl Iterator<Item = u64> + '_ {
        let first = self.0.partition_point(|(other, _)| *other < id);
        self.0[first..].iter().take_while(move |(other, _)| *other == id).map(|(_, source)| *source)
    }
}

/// New ids by the rows of device events.
fn device_ids(numbers: &NodeNumbers, kernels: &NodeKernels) -> FxHashMap<u32, u64> {
    let ids = |node: &u32| (numbers.of_node[*node as usize] + 1..).zip(kernels.of(*node));
    numbers.order.iter().flat_map(ids).map(|(id, row)| (row, id)).collect()
}

/// New ids of the nodes that have times, by thread and start.
struct TimedNodes(Vec<(TrackId, Ts, u64)>);

impl TimedNodes {
    fn new(linked: &LinkedTrace, numbers: &NodeNumbers) -> Self {
        let events = &linked.trace.events;
        let host = |node: usize| {
            let row = event(linked, node)? as usize;
            Some((events.track.at(row), events.start.at(row), numbers.of_node[node]))
        };
        let mut hosts: Vec<_> = (0..linked.trace.nodes.len()).filter_map(host).collect();
        hosts.sort_unstable();
        Self(hosts)
    }

    /// The first node that the thread of a call begins after it.
    fn next(&self, linked: &LinkedTrace, call: usize) -> Option<u64> {
        let events = &linked.trace.events;
        let (track, end) = (events.track.at(call), events.end(call));
        let at = self.0.partition_point(|(other, start, _)| (*other, *start) < (track, end));
        self.0.get(at).filter(|(other, ..)| *other == track).map(|(.., id)| *id)
    }
}
