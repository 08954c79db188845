//! Costs of fused optimizers: parameters and moments are read and written, gradients read;
//! operations per element.
//!
//! Adam: 3 for the first moment, 4 for the second, 3 for the square root with its correction and
//! epsilon, 3 for the step; its weight decay is one more where it shrinks the parameter (`adamw`).
//! SGD: 2 for the step, 2 for the momentum. Adagrad: 2 for the sum of squares, 4 for the step.

use super::call::{OperatorCall, TensorArgument, list_bytes};
use super::cost::{OperatorCost, base, entry};

/// Operations an element, where lists are that are read and written beside the first, and
/// operations where they are there.
#[derive(Debug, Clone, Copy)]
struct OptimizerOperands {
    flops: i64,
    moments: &'static [usize],
    moment_flops: i64,
}

static OPTIMIZERS: &[(&str, OptimizerOperands)] = &[
    ("aten::_fused_adam", OptimizerOperands { flops: 13, moments: &[2, 3, 4], moment_flops: 0 }),
    ("aten::_fused_adamw", OptimizerOperands { flops: 14, moments: &[2, 3, 4], moment_flops: 0 }),
    ("aten::_fused_sgd", OptimizerOperands { flops: 2, moments: &[2], moment_flops: 2 }),
    ("aten::_fused_adagrad", OptimizerOperands { flops: 6, moments: &[2], moment_flops: 0 }),
];

pub(super) fn is_known(name: &str) -> bool {
    entry(OPTIMIZERS, base(name)).is_some()
}

pub(super) fn cost(name: &str, call: &OperatorCall) -> Option<OperatorCost> {
    let optimizer = entry(OPTIMIZERS, base(name))?;
    let (parameters, gradients) = (call.tensors(0)?, call.tensors(1)?);
    let moments: Vec<_> = optimizer.moments.iter().filter_map(|at| call.tensors(*at)).collect();
    let flops = optimizer.flops + if moments.is_empty() { 0 } else { optimizer.moment_flops };
    let updated = moments.into_iter().map(list_bytes).fold(list_bytes(parameters), i64::saturating_add);
    let num_elems = parameters.iter().map(TensorArgument::num_elems).fold(0, i64::saturating_add);
    Some(OperatorCost {
        flops: num_elems.saturating_mul(flops),
        bytes: updated.saturating_mul(2).saturating_add(list_bytes(gradients)),
        dtype: parameters.first()?.dtype,
    })
}
