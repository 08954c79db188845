//! What is put in places that numbers say: the values and their numbers are read, the places written, and read before where
//! values are added to what is there, which is an operation each.

use super::call::{Call, list_bytes};
use super::model::{Cost, base, entry};

/// Where the numbers and the values are, if either says how many there are, and whether they are added up.
#[derive(Debug, Clone, Copy)]
struct Scatter {
    /// Of an operator that puts no tensor, or takes numbers in a list, none.
    numbers: Option<usize>,
    values: Option<usize>,
    adds: Adds,
}

#[derive(Debug, Clone, Copy)]
enum Adds {
    Always,
    Never,
    /// Where a flag says so.
    Flag(usize),
}

const fn of(numbers: Option<usize>, values: Option<usize>, adds: Adds) -> Scatter {
    Scatter { numbers, values, adds }
}

static SCATTERS: &[(&str, Scatter)] = &[
    ("aten::scatter_add", of(Some(2), None, Adds::Always)),
    ("aten::scatter_reduce", of(Some(2), None, Adds::Always)),
    ("aten::scatter", of(Some(2), None, Adds::Never)),
    ("aten::index_add", of(Some(2), Some(3), Adds::Always)),
    ("aten::index_copy", of(Some(2), Some(3), Adds::Never)),
    ("aten::index_put", of(None, Some(2), Adds::Flag(3))),
    ("aten::_index_put_impl", of(None, Some(2), Adds::Flag(3))),
];

pub(super) fn is_known(name: &str) -> bool {
    entry(SCATTERS, base(name)).is_some()
}

/// As many elements are put as there are values or, of those that have a number each, as there are numbers. Numbers in a list
/// of which nothing is recorded are not counted. What is no longer its first argument is a copy of that, too.
pub(super) fn cost(name: &str, call: &Call) -> Option<Cost> {
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
        Adds::Always => true,
        Adds::Never => false,
        Adds::Flag(at) => call.flag(at),
    };
    let moved = num_elems.saturating_mul(if adds { 3 } else { 2 }).saturating_mul(target.dtype.bytes);
    let copied = if base(name) == name { target.bytes().saturating_add(target.bytes_anew()) } else { 0 };
    Some(Cost {
        flops: if adds { num_elems } else { 0 },
        bytes: moved.saturating_add(number_bytes).saturating_add(copied),
        dtype: target.dtype,
    })
}
