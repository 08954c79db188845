//! Costs of scatters: values and indices are read, targets written. An added value also reads its
//! target and costs one operation.

use super::call::{OperatorCall, list_bytes};
use super::cost::{OperatorCost, base, entry};

/// Where the numbers and the values are, if either says how many there are, and whether they are
/// added up.
#[derive(Debug, Clone, Copy)]
struct ScatterOperands {
    /// Of an operator that puts no tensor, or takes numbers in a list, none.
    numbers: Option<usize>,
    values: Option<usize>,
    adds: ScatterAdds,
}

#[derive(Debug, Clone, Copy)]
enum ScatterAdds {
    Always,
    Never,
    /// If a flag is set.
    Flag(usize),
}

const fn of(numbers: Option<usize>, values: Option<usize>, adds: ScatterAdds) -> ScatterOperands {
    ScatterOperands { numbers, values, adds }
}

static SCATTERS: &[(&str, ScatterOperands)] = &[
    ("aten::scatter_add", of(Some(2), None, ScatterAdds::Always)),
    ("aten::scatter_reduce", of(Some(2), None, ScatterAdds::Always)),
    ("aten::scatter", of(Some(2), None, ScatterAdds::Never)),
    ("aten::index_add", of(Some(2), Some(3), ScatterAdds::Always)),
    ("aten::index_copy", of(Some(2), Some(3), ScatterAdds::Never)),
    ("aten::index_put", of(None, Some(2), ScatterAdds::Flag(3))),
    ("aten::_index_put_impl", of(None, Some(2), ScatterAdds::Flag(3))),
];

pub(super) fn is_known(name: &str) -> bool {
    entry(SCATTERS, base(name)).is_some()
}

/// The number of scattered elements is that of the values or, with an index for each, that of the
/// indices. Unrecorded index lists are not counted. A result that is no longer its first argument
/// is a copy of it, too.
pub(super) fn cost(name: &str, call: &OperatorCall) -> Option<OperatorCost> {
    let scatter = entry(SCATTERS, base(name))?;
    let target = call.tensor(0)?;
    let number_bytes = match scatter.numbers {
        Some(at) => call.tensor(at)?.bytes(),
        None => call.tensors(1).map_or(0, list_bytes),
    };
    let values = call.tensor(scatter.values.or(scatter.numbers)?)?;
    if values.shape.is_empty() && scatter.values.is_some() {
        // One value for all places, whose number is unknown.
        return None;
    }
    let num_elems = values.num_elems();
    let adds = match scatter.adds {
        ScatterAdds::Always => true,
        ScatterAdds::Never => false,
        ScatterAdds::Flag(at) => call.flag(at),
    };
    let moved = num_elems.saturating_mul(if adds { 3 } else { 2 }).saturating_mul(target.dtype.bytes);
    let copied = if base(name) == name { target.bytes().saturating_add(target.rewritten_bytes()) } else { 0 };
    Some(OperatorCost {
        flops: if adds { num_elems } else { 0 },
        bytes: moved.saturating_add(number_bytes).saturating_add(copied),
        dtype: target.dtype,
    })
}
