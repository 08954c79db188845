//! Costs of kernels that Inductor generated, from recorded shapes and from their sources.
//!
//! Each tensor counts at most once for reading and once for writing, and no more of it than the
//! indices of the kernel reach. Without a source, a tensor moves once, and no more of it than
//! the launch has elements; then the operations are unknown. Products count `2·B·M·N·K`.

mod body;
mod definition;
mod expression;
mod template;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::call::{OperatorCall, product};
use super::cost::{OperatorCost, OperatorFamily};
use super::dtype::{Dtype, promoted};
use super::elementwise::common;
use super::outcome::CostOutcome;
use crate::link::LinkedTrace;
use crate::trace::arg_key::ArgKey;
use body::KernelWork;
use definition::{KernelDefinition, KernelDefinitions};

const UNKNOWN: &str = "generated kernel: shapes are not recorded, and no source is given";
const NO_SIZES: &str = "generated kernel: neither its trace nor its source tells all sizes";
const NO_FORMULA: &str = "generated kernel: its arguments do not determine the cost";

/// The start of names of kernels from Inductor.
const GENERATED: &str = "triton_";
/// Kinds of kernels in their names, with the axes that they reduce.
const KINDS: [(&str, usize); 5] = [
    ("triton_poi_fused_", 0),
    ("triton_per_fused_", 1),
    ("triton_red_fused_", 1),
    ("triton_spl_fused_", 1),
    ("triton_mix_fused_", 1),
];
const TEMPLATE: &str = "triton_tem_fused_";

/// The sources of generated kernels.
#[derive(Debug, Default)]
pub(super) struct GeneratedKernels {
    definitions: KernelDefinitions,
    /// The work of a kernel by its place and the sizes of a launch.
    known: RefCell<FxHashMap<KernelLaunch, Option<Rc<KernelWork>>>>,
}

/// The place of a kernel, and its sizes.
type KernelLaunch = (usize, Vec<Option<i64>>);

/// Whether a kernel or its operator has a name that Inductor gives.
pub(super) fn is_generated(name: &str) -> bool {
    name.starts_with(TEMPLATE) || KINDS.iter().any(|(start, _)| name.starts_with(start))
}

impl GeneratedKernels {
    pub(super) fn of(linked: &LinkedTrace) -> Self {
        Self { definitions: KernelDefinitions::of(&linked.sources), known: RefCell::default() }
    }

    /// Whether a kernel has a name of a known source.
    pub(super) fn has(&self, name: &str) -> bool {
        name.starts_with(GENERATED) && self.definitions.find(name, None).is_some()
    }

    /// The cost of a call; `None` where the call is none of a generated kernel.
    pub(super) fn outcome(&self, linked: &LinkedTrace, row: usize, name: &str) -> Option<CostOutcome> {
        let (trace, mut file) = (&linked.trace, String::new());
        trace.args.write_text(&trace.strings, trace.events.args(row), ArgKey::KernelFile, &mut file);
        let place = self.definitions.find(name, Some(file.as_str()).filter(|file| !file.is_empty()));
        if !name.starts_with(GENERATED) || (place.is_none() && !is_generated(name)) {
            return None;
        }
        let call = OperatorCall::of(linked, row);
        let place = place.filter(|at| fits(self.definitions.at(*at), call.as_ref()));
        let found = place.and_then(|at| self.by_source(at, call.as_ref())).or_else(|| by_shapes(name, call.as_ref()?));
        Some(match (found, call, place) {
            (Some((family, cost)), call, _) => {
                CostOutcome::Modelled(family, cost, call.map_or_else(|| Arc::from(""), |call| call.shapes.into()))
            }
            (None, None, None) => CostOutcome::Unmodelled(UNKNOWN),
            (None, None, Some(_)) => CostOutcome::Unmodelled(NO_SIZES),
            (None, Some(_), _) => CostOutcome::Unmodelled(NO_FORMULA),
        })
    }

    fn by_source(&self, at: usize, call: Option<&OperatorCall>) -> Option<(OperatorFamily, OperatorCost)> {
        let kernel = self.definitions.at(at);
        if template::is_product(kernel) {
            return template::by_source(kernel, call).or_else(|| stated(kernel, call));
        }
        let size = |at: usize| call?.value(at)?.as_i64();
        let sizes: Vec<_> = (0..kernel.parameters.len()).map(size).collect();
        let walk = || body::work(kernel, &sizes).map(Rc::new);
        let work = self.known.borrow_mut().entry((at, sizes.clone())).or_insert_with(walk).clone();
        let Some(work) = work else { return stated(kernel, call) };
        let bytes = moved(kernel, &work, call).or(kernel.stated_bytes)?;
        Some((OperatorFamily::Fused, OperatorCost { flops: work.flops, bytes, dtype: dtype(kernel, call)? }))
    }
}

/// Whether a call has the arguments of a kernel.
fn fits(kernel: &KernelDefinition, call: Option<&OperatorCall>) -> bool {
    let Some(call) = call else { return true };
    let is_alike = |(at, parameter): (usize, &definition::KernelParameter)| {
        parameter.pointer.is_some() == call.tensor(at).is_some()
    };
    call.num_arguments() == kernel.parameters.len() && kernel.parameters.iter().enumerate().all(is_alike)
}

/// The bytes of all pointers; `None` where the size of one is needed and unknown.
fn moved(kernel: &KernelDefinition, work: &KernelWork, call: Option<&OperatorCall>) -> Option<i64> {
    let mut bytes = 0_i64;
    for (at, parameter) in kernel.parameters.iter().enumerate() {
        let (Some(dtype), Some(of)) = (parameter.pointer, work.pointers.get(&parameter.name)) else { continue };
        let tensor = call.and_then(|call| call.tensor(at));
        if tensor.is_none() && of.needs_size {
            return None;
        }
        let size = tensor.map_or(i64::MAX, |tensor| tensor.num_stored).min(of.reach());
        let num_moved = of.num_read.min(size).saturating_add(of.num_written.min(size));
        bytes = bytes.saturating_add(num_moved.saturating_mul(tensor.map_or(dtype, |tensor| tensor.dtype).bytes));
    }
    Some(bytes)
}

/// The type that tensors are promoted to.
fn dtype(kernel: &KernelDefinition, call: Option<&OperatorCall>) -> Option<Dtype> {
    let of_source = || kernel.parameters.iter().filter_map(|parameter| parameter.pointer).reduce(promoted);
    call.map_or_else(of_source, common)
}

/// The cost that Inductor counted.
fn stated(kernel: &KernelDefinition, call: Option<&OperatorCall>) -> Option<(OperatorFamily, OperatorCost)> {
    let (bytes, dtype) = (kernel.stated_bytes?, dtype(kernel, call)?);
    Some(match kernel.stated_flops {
        Some(flops) if template::is_product(kernel) => (OperatorFamily::Matmul, OperatorCost { flops, bytes, dtype }),
        _ => (OperatorFamily::FusedOfUnknownOperations, OperatorCost { flops: 0, bytes, dtype }),
    })
}

/// The cost of a call whose source is unknown.
fn by_shapes(name: &str, call: &OperatorCall) -> Option<(OperatorFamily, OperatorCost)> {
    if name.starts_with(TEMPLATE) {
        return template::by_shapes(name, call);
    }
    let (_, num_reduced) = KINDS.iter().find(|(start, _)| name.starts_with(start))?;
    let num_elems = num_elems(call, *num_reduced)?;
    let bytes = call.all_tensors().fold(0, |sum: i64, tensor| {
        sum.saturating_add(tensor.num_stored.min(num_elems).saturating_mul(tensor.dtype.bytes))
    });
    Some((OperatorFamily::FusedOfUnknownOperations, OperatorCost { flops: 0, bytes, dtype: common(call)? }))
}

/// Elements of a launch: the numbers after all tensors, which end with those of the axes. Sizes of
/// dynamic shapes may be before them, so that this is an upper bound.
fn num_elems(call: &OperatorCall, num_reduced: usize) -> Option<i64> {
    let last_tensor = (0..call.num_arguments()).rev().find(|at| call.tensor(*at).is_some())?;
    let number = |at: usize| call.value(at)?.as_i64().filter(|number| *number >= 0);
    let numbers: Vec<_> = (last_tensor + 1..call.num_arguments()).map(number).collect::<Option<_>>()?;
    (numbers.len() > num_reduced).then(|| product(&numbers))
}
