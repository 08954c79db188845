//! Costs of matrix products from templates: `2·B·M·N·K` operations; each tensor moves once, one
//! that is read and written twice.

use super::super::call::{OperatorCall, product};
use super::super::cost::{OperatorCost, OperatorFamily};
use super::super::matmul::result;
use super::definition::KernelDefinition;

/// Names of factors in templates.
const FACTORS: [(&str, &str); 2] = [("arg_A", "arg_B"), ("arg_C", "arg_D")];
const IN_OUT: &str = "in_out_ptr";

pub(super) fn is_product(kernel: &KernelDefinition) -> bool {
    kernel.statements.iter().any(|statement| statement.contains("tl.dot"))
}

/// The cost from the factors' places in the source.
pub(super) fn by_source(
    kernel: &KernelDefinition,
    call: Option<&OperatorCall>,
) -> Option<(OperatorFamily, OperatorCost)> {
    let Some(call) = call else { return by_sizes(kernel) };
    let place = |name: &str| kernel.parameters.iter().position(|parameter| parameter.name == name);
    let mut flops = 0_i64;
    let mut dtype = None;
    for (left, right) in FACTORS.iter().filter_map(|(left, right)| Some((place(left)?, place(right)?))) {
        flops = flops.saturating_add(operations(call, left, right)?);
        dtype = dtype.or(call.tensor(left).map(|tensor| tensor.dtype));
    }
    let again = kernel.parameters.iter().enumerate().filter(|(_, parameter)| parameter.name.starts_with(IN_OUT));
    let again = again.filter_map(|(at, _)| call.tensor(at)).fold(0, |sum: i64, one| sum.saturating_add(one.bytes()));
    let bytes = call.read_bytes().saturating_add(again);
    Some((OperatorFamily::Matmul, OperatorCost { flops, bytes, dtype: dtype? }))
}

/// The cost from sizes that the source states, of a product without other arguments.
fn by_sizes(kernel: &KernelDefinition) -> Option<(OperatorFamily, OperatorCost)> {
    let size = |name: &str| {
        let number = |statement: &String| statement.strip_prefix(name)?.strip_prefix(" = ")?.parse().ok();
        kernel.statements.iter().find_map(number).filter(|size: &i64| *size >= 0)
    };
    let (rows, columns, summed) = (size("M")?, size("N")?, size("K")?);
    let is_batched = kernel.statements.iter().any(|statement| statement.starts_with("stride_aq"));
    let [left, right, result] = &kernel.parameters[..] else { return None };
    if is_batched || (left.name.as_str(), right.name.as_str()) != FACTORS[0] {
        return None;
    }
    let sizes = [(left, [rows, summed]), (right, [summed, columns]), (result, [rows, columns])];
    let mut bytes = 0_i64;
    for (parameter, shape) in sizes {
        bytes = bytes.saturating_add(product(&shape).saturating_mul(parameter.pointer?.bytes));
    }
    let flops = product(&[2, rows, columns, summed]);
    Some((OperatorFamily::Matmul, OperatorCost { flops, bytes, dtype: left.pointer? }))
}

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

fn operations(call: &OperatorCall, left: usize, right: usize) -> Option<i64> {
    let (left, right) = (&call.tensor(left)?.shape, &call.tensor(right)?.shape);
    let shape = result(left, right, false)?;
    Some(product(&[2, product(&shape), *left.last()?]))
}
