//! Costs of matrix products: `2·B·M·N·K` operations; both factors, the result and the addend move
//! once.

use serde_json::Value;

use super::call::OperatorCall;
use super::cost::{OperatorCost, entry};
use super::dtype::{Dtype, numbered};

/// Where the factors are, and how the second one lies.
#[derive(Debug, Clone, Copy)]
struct MatmulOperands {
    left: usize,
    right: usize,
    /// Whether the second factor's last dimension is the one that is summed over.
    is_transposed: bool,
    /// In how many places there may be a tensor that is read.
    num_places: usize,
    /// Argument with the type of the result, if it differs from the first factor's.
    dtype: Option<usize>,
}

const fn of(left: usize, right: usize) -> MatmulOperands {
    MatmulOperands { left, right, is_transposed: false, num_places: right + 1, dtype: None }
}

static PRODUCTS: &[(&str, MatmulOperands)] = &[
    ("aten::mm", of(0, 1)),
    ("aten::bmm", of(0, 1)),
    ("aten::matmul", of(0, 1)),
    ("aten::mv", of(0, 1)),
    ("aten::dot", of(0, 1)),
    ("aten::vdot", of(0, 1)),
    ("aten::_int_mm", of(0, 1)),
    ("aten::_sparse_semi_structured_mm", of(0, 2)),
    ("aten::addmm", of(1, 2)),
    ("aten::addmm_", of(1, 2)),
    ("aten::addmv", of(1, 2)),
    ("aten::addmv_", of(1, 2)),
    ("aten::baddbmm", of(1, 2)),
    ("aten::baddbmm_", of(1, 2)),
    ("aten::_addmm_activation", of(1, 2)),
    ("aten::linear", MatmulOperands { is_transposed: true, num_places: 3, ..of(0, 1) }),
    ("aten::mkldnn_linear", MatmulOperands { is_transposed: true, num_places: 3, ..of(0, 1) }),
    ("aten::_scaled_mm", MatmulOperands { dtype: Some(6), num_places: 6, ..of(0, 1) }),
];

pub(super) fn is_known(name: &str) -> bool {
    entry(PRODUCTS, name).is_some()
}

pub(super) fn cost(name: &str, call: &OperatorCall) -> Option<OperatorCost> {
    let product = entry(PRODUCTS, name)?;
    let call = &call.without_outputs(product.num_places);
    let (left, right) = (call.tensor(product.left)?, call.tensor(product.right)?);
    let shape = result(&left.shape, &right.shape, product.is_transposed)?;
    let num_elems = super::call::product(&shape);
    let dtype = product.dtype.and_then(|at| said(call, at)).unwrap_or(left.dtype);
    let summed = *left.shape.last()?;
    Some(OperatorCost {
        flops: num_elems.saturating_mul(summed).saturating_mul(2),
        bytes: call.read_bytes().saturating_add(num_elems.saturating_mul(dtype.bytes)),
        dtype: left.dtype,
    })
}

fn said(call: &OperatorCall, at: usize) -> Option<Dtype> {
    numbered(call.value(at).and_then(Value::as_i64)?)
}

/// The shape of a product; none of factors that do not fit.
pub(super) fn result(left: &[i64], right: &[i64], is_transposed: bool) -> Option<Vec<i64>> {
    let (summed, rows) = left.split_last()?;
    let (columns, right_summed, batch) = match right {
        [] => return None,
        [summed] => (None, *summed, &[][..]),
        [batch @ .., a, b] if is_transposed => (Some(*a), *b, batch),
        [batch @ .., a, b] => (Some(*b), *a, batch),
    };
    if *summed != right_summed {
        return None;
    }
    let (row, left_batch) = rows.split_last().map_or((None, rows), |(row, batch)| (Some(*row), batch));
    let mut shape = broadcast(&[left_batch, batch])?;
    shape.extend(row.into_iter().chain(columns));
    Some(shape)
}

/// The shape that shapes are broadcast to; none where they do not fit.
pub(super) fn broadcast(shapes: &[&[i64]]) -> Option<Vec<i64>> {
    let num_dims = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
    let mut result = vec![1; num_dims];
    for shape in shapes {
        for (size, own) in result.iter_mut().rev().zip(shape.iter().rev()) {
            match (*size, *own) {
                (_, 1) => {}
                (1, other) => *size = other,
                (one, other) if one == other => {}
                _ => return None,
            }
        }
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_of_any_dimensions_have_a_product() {
        assert_eq!(result(&[2, 3], &[3, 4], false), Some(vec![2, 4]));
        assert_eq!(result(&[7, 2, 3], &[4, 3], true), Some(vec![7, 2, 4]));
        assert_eq!(result(&[5, 1, 2, 3], &[6, 3, 4], false), Some(vec![5, 6, 2, 4]));
        assert_eq!(result(&[2, 3], &[3], false), Some(vec![2]));
        assert_eq!(result(&[3], &[3], false), Some(vec![]));
        assert_eq!(result(&[2, 3], &[4, 4], false), None);
    }
}
