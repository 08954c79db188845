//! Costs of matrix products from templates: `2·B·M·N·K` operations; each tensor moves once, one
//! that is read and written twice.

use super::super::call::{OperatorCall, product};
use super::super::cost::{OperatorCost, OperatorFamily};
use super::super::matmul::result;

/// The cost of a call whose source is unknown: only one pair of neighbours may have the last tensor
/// as its product.
pub(super) fn by_shapes(name: &str, call: &OperatorCall) -> Option<(OperatorFamily, OperatorCost)> {
    if !name.split('_').any(|part| matches!(part, "mm" | "bmm" | "addmm" | "baddbmm")) {
        return None;
    }
    let num_tensors = (0..call.num_arguments()).take_while(|at| call.tensor(*at).is_some()).count();
    let num_results = call.tensor(num_tensors.checked_sub(1)?)?.num_elems();
    let is_pair = |at: &usize| {
        let shape = |at: usize| call.tensor(at).map_or(&[][..], |tensor| &tensor.shape);
        result(shape(*at), shape(at + 1), false).is_some_and(|shape| product(&shape) == num_results)
    };
    let pairs: Vec<_> = (0..num_tensors.saturating_sub(2)).filter(is_pair).collect();
    let (first, last) = (*pairs.first()?, *pairs.last()?);
    if last > first + 1 {
        return None;
    }
    let (flops, dtype) = (operations(call, first, first + 1)?, call.tensor(first)?.dtype);
    if pairs.iter().any(|at| operations(call, *at, at + 1) != Some(flops)) {
        return None;
    }
    Some((OperatorFamily::Matmul, OperatorCost { flops, bytes: call.read_bytes(), dtype }))
}

/// Operations of the product of two arguments.
pub(super) fn operations(call: &OperatorCall, left: usize, right: usize) -> Option<i64> {
    let (left, right) = (&call.tensor(left)?.shape, &call.tensor(right)?.shape);
    let shape = result(left, right, false)?;
    Some(product(&[2, product(&shape), *left.last()?]))
}
