//! Costs of reductions: operations per input element; input and result move once. Softmax takes
//! five per element, its gradient four.

use super::call::OperatorCall;
use super::cost::{OperatorCost, entry};
use super::dtype::{Dtype, named};
use super::elementwise;

/// Operations per element, the position of the dimensions, and the kind of results.
#[derive(Debug, Clone, Copy)]
struct ReductionOperands {
    flops: i64,
    dims: usize,
    results: ReductionResults,
}

#[derive(Debug, Clone, Copy)]
enum ReductionResults {
    /// Values like those that go in.
    Values,
    /// Truth values.
    Truths,
    /// Places.
    Places,
    /// Values with their places, where dimensions are said.
    Both,
}

const fn of(flops: i64, dims: usize, results: ReductionResults) -> ReductionOperands {
    ReductionOperands { flops, dims, results }
}

static REDUCTIONS: &[(&str, ReductionOperands)] = &[
    ("aten::sum", of(1, 1, ReductionResults::Values)),
    ("aten::nansum", of(1, 1, ReductionResults::Values)),
    ("aten::mean", of(1, 1, ReductionResults::Values)),
    ("aten::prod", of(1, 1, ReductionResults::Values)),
    ("aten::amax", of(1, 1, ReductionResults::Values)),
    ("aten::amin", of(1, 1, ReductionResults::Values)),
    ("aten::max", of(1, 1, ReductionResults::Both)),
    ("aten::min", of(1, 1, ReductionResults::Both)),
    ("aten::argmax", of(1, 1, ReductionResults::Places)),
    ("aten::argmin", of(1, 1, ReductionResults::Places)),
    ("aten::count_nonzero", of(1, 1, ReductionResults::Places)),
    ("aten::any", of(1, 1, ReductionResults::Truths)),
    ("aten::all", of(1, 1, ReductionResults::Truths)),
    ("aten::norm", of(2, 2, ReductionResults::Values)),
    ("aten::linalg_vector_norm", of(2, 2, ReductionResults::Values)),
    ("aten::logsumexp", of(4, 1, ReductionResults::Values)),
    ("aten::std", of(4, 1, ReductionResults::Values)),
    ("aten::var", of(4, 1, ReductionResults::Values)),
    ("aten::std_mean", of(4, 1, ReductionResults::Values)),
    ("aten::var_mean", of(4, 1, ReductionResults::Values)),
];

/// Operations an element, and where the larger type of the result is said, if it may be.
static SOFTMAX: &[(&str, (i64, Option<usize>))] = &[
    ("aten::_softmax", (5, Some(2))),
    ("aten::_log_softmax", (5, Some(2))),
    ("aten::_safe_softmax", (5, None)),
    ("aten::_masked_softmax", (5, None)),
    ("aten::_softmax_backward_data", (4, None)),
    ("aten::_log_softmax_backward_data", (4, None)),
];

pub(super) fn is_known(name: &str) -> bool {
    entry(REDUCTIONS, name).is_some()
}

pub(super) fn is_softmax(name: &str) -> bool {
    entry(SOFTMAX, name).is_some()
}

pub(super) fn cost(name: &str, call: &OperatorCall) -> Option<OperatorCost> {
    let reduction = entry(REDUCTIONS, name)?;
    let input = call.tensor(0)?;
    if call.tensor(1).is_some() {
        // The larger of two tensors.
        return elementwise::cost("aten::maximum", call);
    }
    let call = &call.without_outputs(1);
    let num_results = num_results(&input.shape, call.integers(reduction.dims).as_deref());
    let bytes = num_results.saturating_mul(reduction.results.bytes(input.dtype, call.value(reduction.dims).is_some())?);
    let flops = input.num_elems().saturating_mul(reduction.flops);
    Some(OperatorCost { flops, bytes: call.read_bytes().saturating_add(bytes), dtype: input.dtype })
}

impl ReductionResults {
    /// Bytes of a result.
    fn bytes(self, dtype: Dtype, has_dims: bool) -> Option<i64> {
        let places = named("int64")?.bytes;
        Some(match self {
            Self::Truths => 1,
            Self::Places => places,
            Self::Both if has_dims => dtype.bytes.saturating_add(places),
            Self::Values | Self::Both => dtype.bytes,
        })
    }
}

/// How many elements are left without the dimensions; one where no dimensions are given.
fn num_results(shape: &[i64], dims: Option<&[i64]>) -> i64 {
    let Some(dims) = dims.filter(|dims| !dims.is_empty()) else { return 1 };
    let num_dims = shape.len() as i64;
    let is_kept = |at: &usize| !dims.iter().any(|dim| *dim == *at as i64 || *dim == *at as i64 - num_dims);
    (0..shape.len()).filter(is_kept).fold(1, |count: i64, at| count.saturating_mul(shape[at]))
}

pub(super) fn softmax_cost(name: &str, call: &OperatorCall) -> Option<OperatorCost> {
    let (flops, larger) = entry(SOFTMAX, name)?;
    let call = &call.without_outputs(2);
    let input = call.tensor(0)?;
    let dtype = if larger.is_some_and(|at| call.flag(at)) { named("float32")? } else { input.dtype };
    let num_elems = input.num_elems();
    Some(OperatorCost {
        flops: num_elems.saturating_mul(flops),
        bytes: call.read_bytes().saturating_add(num_elems.saturating_mul(dtype.bytes)),
        dtype: input.dtype,
    })
}
