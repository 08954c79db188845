//! Data dependencies between nodes of the Execution Trace.
//!
//! A tensor is a byte range of a storage, so a reader depends on the last writers of these bytes.
//! Views share bytes, in-place operators change them, and reused addresses are written first. Nodes
//! also list the tensors of their children; a write belongs to the innermost node that does more
//! than allocate.

use rustc_hash::{FxHashMap, FxHashSet};

use super::call_order::CallOrder;
use super::storage::{StorageRegion, StorageWriters};
use crate::column::OptionalColumn;
use crate::id::StrId;
use crate::sort;
use crate::trace::Trace;
use crate::trace::node::Node;
use crate::trace::schema::{ArgumentAccess, OperatorSchema};
use crate::trace::tensor::TensorUse;

/// A node that reads another node's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DataDependency {
    /// Row of the node that computed it; it had ended before the other began.
    pub producer: u32,
    /// Row of the node that reads it.
    pub consumer: u32,
    /// Row of the use of a tensor by which it reads.
    pub tensor: u32,
}

/// All data dependencies of an Execution Trace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DataDependencies {
    /// Sorted, each once. They lead from earlier calls to later ones, so there is no cycle, and
    /// never from a call to one that is inside of it or that it is inside of.
    pub edges: Vec<DataDependency>,
    /// Reads of storages in so many pieces that following all of them would take time without
    /// bounds; not followed.
    pub num_cut: u64,
}

/// Average limit of examined storage parts per use of a tensor.
const PARTS_A_USE: usize = 64;

pub(super) fn data_dependencies(trace: &Trace, parents: &OptionalColumn, uses: &[TensorUse]) -> DataDependencies {
    let calls = CallOrder::new(&trace.nodes, parents);
    let mut walk = DependencyWalk {
        trace,
        uses: TensorUses(uses),
        calls: &calls,
        storages: FxHashMap::default(),
        views: FxHashMap::default(),
        schemas: FxHashMap::default(),
        budget: uses.len().saturating_mul(PARTS_A_USE).saturating_add(1 << 16),
        found: DataDependencies::default(),
    };
    for place in 0..calls.rows.len() as u32 {
        walk.begin(place);
        calls.ended(place).for_each(|place| walk.end(place));
    }
    let mut found = walk.found;
    sort::ascending(&mut found.edges);
    found.edges.dedup();
    found
}

/// A storage: its id, or the tensor's where it has none, and the device.
type StorageKey<'a> = (u64, bool, &'a str);

struct DependencyWalk<'a> {
    trace: &'a Trace,
    uses: TensorUses<'a>,
    calls: &'a CallOrder,
    storages: FxHashMap<StorageKey<'a>, StorageWriters>,
    /// The call that made a tensor as a view, without writing.
    views: FxHashMap<u64, u32>,
    schemas: FxHashMap<StrId, OperatorSchema>,
    /// Number of storage parts that may still be examined.
    budget: usize,
    found: DataDependencies,
}

impl<'a> DependencyWalk<'a> {
    /// Reads happen as a call begins.
    fn begin(&mut self, place: u32) {
        let consumer = self.calls.rows[place as usize];
        let first = self.uses.first_of(consumer);
        for (at, read) in self.uses.inputs(consumer).iter().enumerate() {
            let Some(region) = region(read) else { continue };
            if self.budget == 0 {
                self.found.num_cut += 1;
                continue;
            }
            let parts = self.storages.get(&storage_key(read)).into_iter().flat_map(|storage| storage.parts(region));
            let writers = parts.map(|(_, writer)| writer).chain(self.views.get(&read.tensor_id).copied());
            let mut writers: Vec<_> = writers.take(self.budget).collect();
            self.budget -= writers.len();
            writers.dedup();
            let producers = writers.iter().map(|writer| self.calls.rows[*writer as usize]);
            let tensor = (first + at) as u32;
            self.found.edges.extend(producers.map(|producer| DataDependency { producer, consumer, tensor }));
        }
    }

    /// Writes happen as a call ends, so that none is of a call that is still going on.
    fn end(&mut self, place: u32) {
        let row = self.calls.rows[place as usize];
        let node = &self.trace.nodes[row as usize];
        let schema = self.schema(node);
        let inputs = self.uses.inputs(row);
        for input in inputs.iter().filter(|input| is_written(node, &schema, input)) {
            self.write(place, input);
        }
        let storages: FxHashSet<_> = inputs.iter().map(storage_key).collect();
        let tensors: FxHashSet<_> = inputs.iter().map(|input| input.tensor_id).collect();
        for output in self.uses.outputs(row) {
            let is_alias = schema.result(output.argument as usize) == ArgumentAccess::Alias;
            if !is_alias || !storages.contains(&storage_key(output)) {
                self.views.remove(&output.tensor_id);
                self.write(place, output);
            } else if !tensors.contains(&output.tensor_id) {
                self.view(place, output.tensor_id);
            }
        }
    }

    fn write(&mut self, place: u32, tensor: &'a TensorUse) {
        let Some(region) = region(tensor) else { return };
        let (calls, trace, budget) = (self.calls, self.trace, self.budget);
        let is_allocation = |writer: u32| is_allocation(trace, calls.rows[writer as usize]);
        let stays = |writer| budget > 0 && calls.is_inside(writer, place) && !is_allocation(writer);
        let num_parts = self.storages.entry(storage_key(tensor)).or_default().write(region, place, stays);
        self.budget = budget.saturating_sub(num_parts);
    }

    fn view(&mut self, place: u32, tensor: u64) {
        let is_made_inside = self.views.get(&tensor).is_some_and(|maker| self.calls.is_inside(*maker, place));
        if !is_made_inside {
            self.views.insert(tensor, place);
        }
    }

    fn schema(&mut self, node: &Node) -> OperatorSchema {
        let text = self.trace.strings.text(node.schema);
        self.schemas.entry(node.schema).or_insert_with(|| OperatorSchema::new(text)).clone()
    }
}

/// Uses of tensors by the row of their node.
#[derive(Debug, Clone, Copy)]
struct TensorUses<'a>(&'a [TensorUse]);

impl<'a> TensorUses<'a> {
    fn first_of(self, row: u32) -> usize {
        self.0.partition_point(|tensor| tensor.node < row)
    }

    fn inputs(self, row: u32) -> &'a [TensorUse] {
        let uses = &self.0[self.first_of(row)..];
        &uses[..uses.partition_point(|tensor| tensor.node == row && !tensor.is_output)]
    }

    fn outputs(self, row: u32) -> &'a [TensorUse] {
        let uses = &self.0[self.first_of(row) + self.inputs(row).len()..];
        &uses[..uses.partition_point(|tensor| tensor.node == row)]
    }
}

/// Whether a node only allocates (`aten::empty`, `aten::empty_like`, `aten::new_empty_strided`, …):
/// its caller fills the memory.
fn is_allocation(trace: &Trace, row: u32) -> bool {
    let name = trace.strings.text(trace.nodes[row as usize].name);
    let operator = name.rsplit("::").next().unwrap_or(name);
    operator.strip_prefix("new_").unwrap_or(operator).starts_with("empty")
}

/// Whether a call writes one of its inputs. Kernels without a schema (Triton) may write anything.
fn is_written(node: &Node, schema: &OperatorSchema, input: &TensorUse) -> bool {
    let is_unknown = node.kernel_backend != StrId::EMPTY && node.schema == StrId::EMPTY;
    is_unknown || schema.argument(input.argument as usize) == ArgumentAccess::Write
}

fn storage_key(tensor: &TensorUse) -> StorageKey<'_> {
    match tensor.storage_id {
        0 => (tensor.tensor_id, true, &tensor.device),
        storage => (storage, false, &tensor.device),
    }
}

/// The bytes from a tensor's first element to its last; none of a tensor that is empty.
fn region(tensor: &TensorUse) -> Option<StorageRegion> {
    let num_elems = elements_spanned(tensor).unwrap_or(tensor.num_elems);
    let start = tensor.offset.saturating_mul(tensor.elem_bytes);
    let end = start.saturating_add(num_elems.saturating_mul(tensor.elem_bytes));
    (tensor.num_elems > 0 && start < end).then_some(StorageRegion { start, end })
}

/// From the first to the last element in the storage, by the strides, where they were recorded.
fn elements_spanned(tensor: &TensorUse) -> Option<i64> {
    let list = |json: &str| serde_json::from_str::<Vec<i64>>(json).ok();
    let (shape, stride) = (list(&tensor.shape)?, list(&tensor.stride)?);
    let steps = shape.iter().zip(&stride).map(|(size, stride)| size.saturating_sub(1).saturating_mul(*stride));
    let last = steps.fold(0_i64, i64::saturating_add);
    (shape.len() == stride.len() && last >= 0).then_some(last.saturating_add(1))
}
