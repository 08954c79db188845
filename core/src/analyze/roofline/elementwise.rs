//! Costs of elementwise operators: operations per element; each argument and the result move once.

use super::call::{OperatorCall, TensorArgument, product};
use super::cost::{OperatorCost, base};
use super::dtype::{Dtype, named, promoted};
use super::matmul::broadcast;

/// Operations an element, whether the result is of truth values, in how many places there may be a
/// tensor that is read, and the names without `aten::` and `_` at the end.
struct ElementwiseGroup(i64, bool, usize, &'static [&'static str]);

static GROUPS: &[ElementwiseGroup] = &[
    ElementwiseGroup(1, false, 1, UNARY),
    ElementwiseGroup(1, false, 2, &["clamp_max", "clamp_min"]),
    ElementwiseGroup(1, false, 2, BINARY),
    ElementwiseGroup(
        1,
        false,
        3,
        &["clamp", "log_sigmoid_backward", "mse_loss_backward", "huber_loss_backward", "smooth_l1_loss_backward"],
    ),
    ElementwiseGroup(1, false, 6, &["elu_backward"]),
    ElementwiseGroup(1, true, 2, COMPARISONS),
    ElementwiseGroup(3, false, 3, &["addcmul", "addcdiv", "lerp"]),
    // By what is kept, a result of truth values beside the other.
    ElementwiseGroup(1, false, 1, &[DROPOUT]),
    ElementwiseGroup(0, false, 3, &["where", "masked_fill", "tril", "triu", "clone", "contiguous", "flip", "roll"]),
];

const DROPOUT: &str = "native_dropout";

const UNARY: &[&str] = &[
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "bitwise_not",
    "ceil",
    "celu",
    "cos",
    "cosh",
    "cumprod",
    "cumsum",
    "digamma",
    "elu",
    "erf",
    "erfc",
    "erfinv",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "frac",
    "gelu",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "leaky_relu",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "log_sigmoid_forward",
    "mish",
    "nan_to_num",
    "neg",
    "reciprocal",
    "relu",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "silu",
    "sin",
    "sinh",
    "softplus",
    "softshrink",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "threshold",
    "trunc",
];

const BINARY: &[&str] = &[
    "add",
    "atan2",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "copysign",
    "div",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "gelu_backward",
    "hardsigmoid_backward",
    "hardswish_backward",
    "hardtanh_backward",
    "hypot",
    "leaky_relu_backward",
    "maximum",
    "minimum",
    "mish_backward",
    "mul",
    "native_dropout_backward",
    "pow",
    "remainder",
    "rsub",
    "sigmoid_backward",
    "silu_backward",
    "softplus_backward",
    "sub",
    "tanh_backward",
    "threshold_backward",
    "true_divide",
    "xlogy",
];

const COMPARISONS: &[&str] = &[
    "eq",
    "ge",
    "gt",
    "isfinite",
    "isinf",
    "isnan",
    "le",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "lt",
    "ne",
];

pub(super) fn is_known(name: &str) -> bool {
    group(name).is_some()
}

/// The group of an operator, and whether it writes its first argument.
fn group(name: &str) -> Option<(&'static ElementwiseGroup, bool)> {
    let name = name.strip_prefix("aten::")?;
    let name = name.strip_prefix("_foreach_").unwrap_or(name);
    GROUPS.iter().find(|group| group.3.contains(&base(name))).map(|group| (group, base(name) != name))
}

pub(super) fn cost(name: &str, call: &OperatorCall) -> Option<OperatorCost> {
    let (ElementwiseGroup(flops, is_truth, num_places, _), is_in_place) = group(name)?;
    let call = &call.without_outputs(*num_places);
    if let Some(list) = call.tensors(0) {
        return of_list(call, list, *flops);
    }
    let (num_elems, promoted) = result(call, is_in_place)?;
    let dtype = if *is_truth && !is_in_place { named("bool")? } else { promoted };
    let mut bytes = call.read_bytes().saturating_add(num_elems.saturating_mul(dtype.bytes));
    if *flops == 0 && is_in_place {
        // The elements that are kept are not read.
        bytes = bytes.saturating_sub(call.tensor(0)?.bytes());
    }
    if name.ends_with(DROPOUT) {
        bytes = bytes.saturating_add(num_elems.saturating_mul(named("bool")?.bytes));
    }
    Some(OperatorCost { flops: num_elems.saturating_mul(*flops), bytes, dtype: promoted })
}

/// Of an operator on lists, each tensor of the first one makes a result like it.
fn of_list(call: &OperatorCall, list: &[TensorArgument], flops: i64) -> Option<OperatorCost> {
    let sum = |count: fn(&TensorArgument) -> i64| list.iter().map(count).fold(0, i64::saturating_add);
    let bytes = call.read_bytes().saturating_add(sum(TensorArgument::rewritten_bytes));
    Some(OperatorCost {
        flops: sum(TensorArgument::num_elems).saturating_mul(flops),
        bytes,
        dtype: list.first()?.dtype,
    })
}

/// Elements and type of the result: of the first argument if written in place, else after
/// broadcasting and promotion.
fn result(call: &OperatorCall, is_in_place: bool) -> Option<(i64, Dtype)> {
    if is_in_place {
        return call.tensor(0).map(|written| (written.num_elems(), written.dtype));
    }
    let shapes: Vec<_> = call.all_tensors().map(|tensor| tensor.shape.as_slice()).collect();
    Some((product(&broadcast(&shapes)?), common(call)?))
}

/// The type that the tensors with dimensions are promoted to; of those without, where no other is.
pub(super) fn common(call: &OperatorCall) -> Option<Dtype> {
    let of = |is_wanted: fn(&TensorArgument) -> bool| {
        call.all_tensors().filter(|tensor| is_wanted(tensor)).map(|tensor| tensor.dtype).reduce(promoted)
    };
    of(|tensor| !tensor.shape.is_empty()).or_else(|| of(|_| true))
}
