//! Costs of operators that only move elements: lookups, copies, fills.

use super::call::{OperatorCall, TensorArgument, list_bytes, product};
use super::cost::{OperatorCost, entry};
use super::matmul::broadcast;

/// How rows are looked up.
#[derive(Debug, Clone, Copy)]
enum LookupKind {
    /// Rows of a table by their numbers: table, numbers.
    Rows(usize, usize),
    /// The same, with rows of a bag added up; the ends of the bags are there.
    Bags(usize, usize, usize),
    /// Places along a dimension: dimension, numbers.
    Along(usize, usize),
    /// Elements by their numbers, as many as there are of those.
    Each(usize),
    /// Elements by lists of numbers, one for each of the first dimensions: a list.
    Listed(usize),
    /// The gradient of rows: gradient, numbers, how many rows the table has.
    Gradient(usize, usize, usize),
    /// The same, of rows that were added up in bags.
    BagGradient(usize, usize, usize),
}

static LOOKUPS: &[(&str, LookupKind)] = &[
    ("aten::embedding", LookupKind::Rows(0, 1)),
    ("aten::_embedding_bag", LookupKind::Bags(0, 1, 2)),
    ("aten::_embedding_bag_forward_only", LookupKind::Bags(0, 1, 2)),
    ("aten::index_select", LookupKind::Along(1, 2)),
    ("aten::gather", LookupKind::Each(2)),
    ("aten::index", LookupKind::Listed(1)),
    ("aten::embedding_dense_backward", LookupKind::Gradient(0, 1, 2)),
    ("aten::_embedding_bag_dense_backward", LookupKind::BagGradient(0, 1, 5)),
];

/// The operands that a copy reads and writes.
#[derive(Debug, Clone, Copy)]
enum CopyOperands {
    /// Reads the second argument, writes the first.
    From,
    /// Reads a list, writes as much.
    List,
    /// Writes the first argument.
    Fill,
}

static COPIES: &[(&str, CopyOperands)] = &[
    ("aten::copy_", CopyOperands::From),
    ("aten::_foreach_copy_", CopyOperands::From),
    ("aten::cat", CopyOperands::List),
    ("aten::stack", CopyOperands::List),
    ("aten::fill_", CopyOperands::Fill),
    ("aten::zero_", CopyOperands::Fill),
    ("aten::_foreach_zero_", CopyOperands::Fill),
    ("aten::normal_", CopyOperands::Fill),
    ("aten::uniform_", CopyOperands::Fill),
    ("aten::bernoulli_", CopyOperands::Fill),
    ("aten::random_", CopyOperands::Fill),
    ("aten::exponential_", CopyOperands::Fill),
];

pub(super) fn is_known(name: &str) -> bool {
    entry(LOOKUPS, name).is_some()
}

pub(super) fn is_copy(name: &str) -> bool {
    entry(COPIES, name).is_some()
}

/// Rows that are looked up are read and written, numbers read; only sums of rows are operations.
pub(super) fn cost(name: &str, call: &OperatorCall) -> Option<OperatorCost> {
    let table = call.tensor(0)?;
    let row = |at: usize| Some(call.tensor(at)?.shape.last().copied().unwrap_or(1));
    let numbers = |at: usize| Some((call.tensor(at)?.num_elems(), call.tensor(at)?.bytes()));
    let (num_read, num_written, number_bytes, flops) = match entry(LOOKUPS, name)? {
        LookupKind::Rows(table, at) => {
            let num_elems = numbers(at)?.0.saturating_mul(row(table)?);
            (num_elems, num_elems, numbers(at)?.1, 0)
        }
        LookupKind::Bags(table, at, ends) => {
            let num_elems = numbers(at)?.0.saturating_mul(row(table)?);
            (num_elems, numbers(ends)?.0.saturating_mul(row(table)?), numbers(at)?.1, num_elems)
        }
        LookupKind::Along(dim, at) => {
            let dim = call.integers(dim)?.first().copied()?;
            let dim = if dim < 0 { dim.checked_add(table.shape.len() as i64)? } else { dim };
            let size = *table.shape.get(usize::try_from(dim).ok()?)?;
            let num_elems = table.num_elems().checked_div(size)?.saturating_mul(numbers(at)?.0);
            (num_elems, num_elems, numbers(at)?.1, 0)
        }
        LookupKind::Each(at) => (numbers(at)?.0, numbers(at)?.0, numbers(at)?.1, 0),
        LookupKind::Listed(at) => {
            let (num_elems, number_bytes) = listed(table, call.tensors(at)?)?;
            (num_elems, num_elems, number_bytes, 0)
        }
        LookupKind::BagGradient(gradient, at, rows) => {
            let (num_rows, row) = (call.integers(rows)?.first().copied()?, row(gradient)?);
            let num_elems = call.tensor(gradient)?.num_elems();
            (num_elems, num_rows.saturating_mul(row), numbers(at)?.1, numbers(at)?.0.saturating_mul(row))
        }
        LookupKind::Gradient(gradient, at, rows) => {
            let num_rows = call.integers(rows)?.first().copied()?;
            let num_elems = call.tensor(gradient)?.num_elems();
            (num_elems, num_rows.saturating_mul(row(gradient)?), numbers(at)?.1, num_elems)
        }
    };
    let moved = num_read.saturating_add(num_written).saturating_mul(table.dtype.bytes);
    Some(OperatorCost { flops, bytes: moved.saturating_add(number_bytes), dtype: table.dtype })
}

/// How many elements are looked up by numbers for each of the first dimensions, and the bytes of
/// the numbers; none where a mask says which, for how many it sets is unknown.
fn listed(table: &TensorArgument, numbers: &[TensorArgument]) -> Option<(i64, i64)> {
    let are_numbers = numbers.iter().all(|one| matches!(one.dtype.name, "int64" | "int32"));
    let rest = table.shape.get(numbers.len()..).filter(|_| are_numbers)?;
    let shapes: Vec<_> = numbers.iter().map(|one| one.shape.as_slice()).collect();
    let num_elems = product(&broadcast(&shapes)?).saturating_mul(product(rest));
    Some((num_elems, list_bytes(numbers)))
}

pub(super) fn copy_cost(name: &str, call: &OperatorCall) -> Option<OperatorCost> {
    let size = |at: usize| call.tensor(at).map(TensorArgument::bytes).or_else(|| call.tensors(at).map(list_bytes));
    let bytes = match entry(COPIES, name)? {
        CopyOperands::From => size(0)?.saturating_add(size(1)?),
        CopyOperands::List => size(0)?.saturating_mul(2),
        CopyOperands::Fill => size(0)?,
    };
    Some(OperatorCost { flops: 0, bytes, dtype: call.all_tensors().next()?.dtype })
}
