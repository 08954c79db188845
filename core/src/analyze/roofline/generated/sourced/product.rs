//! Costs of matrix products by the factors' places in the source of a template.

use super::super::super::call::{OperatorCall, product};
use super::super::super::cost::{OperatorCost, OperatorFamily};
use super::super::template::operations;
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
