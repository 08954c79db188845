//! Finds the device work of each node.

use rustc_hash::FxHashMap;

use super::op::{HostOp, OpTime, is_op};
use super::rules::EtPlusRules;
use crate::id::TrackId;
use crate::link::LinkedTrace;
use crate::trace::arg_key::ArgKey;

/// Device work of each node.
#[derive(Debug, Default)]
pub(super) struct NodeKernels {
    /// Rows of node and event, by node, then by the event's start.
    pairs: Vec<(u32, u32)>,
}

impl NodeKernels {
    /// Device work with its nodes; `ops` are all that a node may be linked with, at the times that
    /// `time` makes of those in the file.
    pub(super) fn of_trace<T: OpTime>(
        linked: &LinkedTrace,
        rules: EtPlusRules,
        ops: &[HostOp<T>],
        time: impl Fn(u32) -> T,
    ) -> Self {
        let closest = ClosestOperators::new(linked, ops);
        let mut pairs = match rules {
            EtPlusRules::Exact => closest.by_owner(&time),
            EtPlusRules::LikeChakra => closest.by_external_id(&time),
        };
        let start = |event: u32| linked.trace.events.start.at(event as usize);
        pairs.sort_by_key(|(node, event)| (*node, start(*event), *event));
        Self { pairs }
    }

    /// Rows of a node's device work, in the order of time.
    pub(super) fn of(&self, node: u32) -> impl ExactSizeIterator<Item = u32> + '_ {
        let first = self.pairs.partition_point(|(other, _)| *other < node);
        let last = self.pairs.partition_point(|(other, _)| *other <= node);
        self.pairs[first..last].iter().map(|(_, event)| *event)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.pairs.len()
    }
}

/// Around several sends and receives; each of their kernels is that of one of them.
const COALESCED: &str = "nccl:coalesced";

/// Names that `chakra_trace_link` recognizes as launches.
const LAUNCHES: [&str; 15] = [
    "cuLaunchKernel",
    "cuLaunchKernelEx",
    "cudaLaunchKernel",
    "cudaLaunchKernelExC",
    "cudaMemcpy",
    "cudaMemcpyAsync",
    "cudaMemcpyFromSymbol",
    "cudaMemcpyToSymbol",
    "cudaLaunchCooperativeKernel",
    "hipLaunchKernel",
    "hipExtLaunchKernel",
    "hipExtModuleLaunchKernel",
    "hipModuleLaunchKernel",
    "hipMemcpyWithStream",
    "hipMemcpyAsync",
];

/// Host operators, searchable for the last one that began before a launch.
struct ClosestOperators<'a, T> {
    linked: &'a LinkedTrace,
    ops: &'a [HostOp<T>],
    /// Places of each thread's operators in the order of time.
    by_thread: FxHashMap<TrackId, Vec<usize>>,
    /// The same of those that share an external id.
    by_id: FxHashMap<(TrackId, Option<u64>), Vec<usize>>,
}

impl<'a, T: OpTime> ClosestOperators<'a, T> {
    fn new(linked: &'a LinkedTrace, ops: &'a [HostOp<T>]) -> Self {
        let mut closest = Self { linked, ops, by_thread: FxHashMap::default(), by_id: FxHashMap::default() };
        for (at, op) in ops.iter().enumerate() {
            closest.by_thread.entry(op.track).or_default().push(at);
            closest.by_id.entry((op.track, external_id(linked, op.row))).or_default().push(at);
        }
        closest
    }

    /// The last operator that began on the launch's thread, with the kernel's external id where
    /// there is one.
    fn find(&self, kernel: u32, launch: u32, start: T) -> Option<u32> {
        let trace = &self.linked.trace;
        let is_nccl = trace.event_name(kernel as usize).to_ascii_lowercase().contains("nccl");
        let is_skipped = |row: u32| is_nccl && trace.event_name(row as usize) == COALESCED;
        let last = |places: &Vec<usize>| {
            let num_before = places.partition_point(|at| self.ops[*at].start < start);
            places[..num_before].iter().rev().map(|at| self.ops[*at].row).find(|row| !is_skipped(*row))
        };
        let track = trace.events.track.at(launch as usize);
        let same_id = self.by_id.get(&(track, external_id(self.linked, kernel))).and_then(last);
        same_id.or_else(|| self.by_thread.get(&track).and_then(last))
    }

    /// Each event with the node of the innermost operator around its launch that has one.
    fn by_owner(&self, time: impl Fn(u32) -> T) -> Vec<(u32, u32)> {
        let (trace, links) = (&self.linked.trace, &self.linked.links);
        let node = |row: u32| links.nodes.node_of_event.get(row as usize).filter(|_| is_op(trace, row as usize));
        let owner = |kernel: u32| {
            let mut owner = links.operator.get(kernel as usize)?;
            if trace.event_name(owner as usize) == COALESCED
                && let Some(launch) = links.launch.get(kernel as usize)
            {
                owner = self.find(kernel, launch, time(launch)).unwrap_or(owner);
            }
            std::iter::successors(Some(owner), |row| links.nesting.parent.get(*row as usize)).find_map(node)
        };
        let work = (0..trace.events.len()).filter(|row| is_device_work(self.linked, *row)).map(|row| row as u32);
        work.filter_map(|row| Some((owner(row)?, row))).collect()
    }

    /// Each event with every node whose operator has the external id of the one that
    /// [`find`](Self::find) gives.
    fn by_external_id(&self, time: impl Fn(u32) -> T) -> Vec<(u32, u32)> {
        let (trace, links) = (&self.linked.trace, &self.linked.links);
        let category = |row: usize| trace.strings.text(trace.events.category.at(row));
        let is_launch = |launch: &u32| {
            let launch = *launch as usize;
            matches!(category(launch), "cuda_runtime" | "cuda_driver") && LAUNCHES.contains(&trace.event_name(launch))
        };
        let mut by_id: FxHashMap<Option<u64>, Vec<u32>> = FxHashMap::default();
        for row in (0..trace.events.len()).filter(|row| matches!(category(*row), "kernel" | "gpu_memcpy")) {
            let Some(launch) = links.launch.get(row).filter(is_launch) else { continue };
            if let Some(op) = self.find(row as u32, launch, time(launch)) {
                by_id.entry(external_id(self.linked, op)).or_default().push(row as u32);
            }
        }
        let nodes = (0..trace.nodes.len()).filter_map(|node| Some((node as u32, event(self.linked, node)?)));
        let work = |op: u32| by_id.get(&external_id(self.linked, op)).into_iter().flatten();
        nodes.flat_map(|(node, op)| work(op).map(move |row| (node, *row))).collect()
    }
}

/// Row of the operator of a node.
pub(super) fn event(linked: &LinkedTrace, node: usize) -> Option<u32> {
    linked.links.nodes.event_of_node.get(node).filter(|row| is_op(&linked.trace, *row as usize))
}

/// Whether an event is work that a device did.
pub(super) fn is_device_work(linked: &LinkedTrace, row: usize) -> bool {
    linked.trace.events.kind[row].is_device_work() && linked.trace.is_on_device(row)
}

fn external_id(linked: &LinkedTrace, row: u32) -> Option<u64> {
    let (trace, row) = (&linked.trace, row as usize);
    trace.args.identifier(&trace.strings, trace.events.args(row), ArgKey::ExternalId)
}
