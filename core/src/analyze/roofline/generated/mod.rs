//! Costs of kernels that Inductor generated, from recorded shapes and from their sources.
//!
//! Each tensor counts at most once for reading and once for writing, and no more of it than the
//! indices of the kernel reach. Without a source, a tensor moves once, and no more of it than
//! the launch has elements; then the operations are unknown. Products count `2·B·M·N·K`.

#[cfg(feature = "kernel-sources")]
mod sourced;
mod template;
#[cfg(not(feature = "kernel-sources"))]
mod unsourced;

use std::sync::Arc;

use super::call::{OperatorCall, product};
use super::cost::{OperatorCost, OperatorFamily};
use super::elementwise::common;
use super::outcome::CostOutcome;
use crate::link::LinkedTrace;
use crate::trace::arg_key::ArgKey;
#[cfg(feature = "kernel-sources")]
use sourced::SourcedKernels;
#[cfg(not(feature = "kernel-sources"))]
use unsourced::UnsourcedKernels as SourcedKernels;

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

/// Generated kernels, with the sources of some.
#[derive(Debug, Default)]
pub(super) struct GeneratedKernels {
    sources: SourcedKernels,
}

/// Whether a kernel or its operator has a name that Inductor gives.
pub(super) fn is_generated(name: &str) -> bool {
    name.starts_with(TEMPLATE) || KINDS.iter().any(|(start, _)| name.starts_with(start))
}

impl GeneratedKernels {
    pub(super) fn of(linked: &LinkedTrace) -> Self {
        Self { sources: SourcedKernels::of(&linked.sources) }
    }

    /// Whether a kernel has a name of a known source.
    pub(super) fn has(&self, name: &str) -> bool {
        name.starts_with(GENERATED) && self.sources.has(name, None)
    }

    /// The cost of a call; `None` where the call is none of a generated kernel.
    pub(super) fn outcome(&self, linked: &LinkedTrace, row: usize, name: &str) -> Option<CostOutcome> {
        if !name.starts_with(GENERATED) {
            return None;
        }
        let (trace, mut file) = (&linked.trace, String::new());
        trace.args.write_text(&trace.strings, trace.events.args(row), ArgKey::KernelFile, &mut file);
        let file = Some(file.as_str()).filter(|file| !file.is_empty());
        if !is_generated(name) && !self.sources.has(name, file) {
            return None;
        }
        let call = OperatorCall::of(linked, row);
        let found = self.sources.cost(name, file, call.as_ref()).or_else(|| by_shapes(name, call.as_ref()?));
        Some(match (found, call) {
            (Some((family, cost)), call) => {
                CostOutcome::Modelled(family, cost, call.map_or_else(|| Arc::from(""), |call| call.shapes.into()))
            }
            (None, Some(_)) => CostOutcome::Unmodelled(NO_FORMULA),
            (None, None) if self.sources.fits(name, file, None) => CostOutcome::Unmodelled(NO_SIZES),
            (None, None) => CostOutcome::Unmodelled(UNKNOWN),
        })
    }
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
