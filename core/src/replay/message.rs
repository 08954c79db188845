//! The message sizes of a collective on one rank.

use std::fmt::Write as _;

use super::argument::{CallArguments, TensorGroup, numbers};
use crate::link::Collective;
use crate::trace::collective::{CollectivePattern, dtype};

/// Sizes of a message on one rank. Tensors of a list stand in its order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CollectiveMessage {
    /// Elements of each tensor that goes in.
    pub in_elems: Vec<i64>,
    /// Elements of each tensor that comes out.
    pub out_elems: Vec<i64>,
    /// Rows for each rank of the group; empty for even parts.
    pub in_split: Vec<i64>,
    /// Rows from each rank of the group; empty for even parts.
    pub out_split: Vec<i64>,
    /// Type of the elements, by its one name.
    pub dtype: Option<String>,
    /// Bytes of an element.
    pub elem_bytes: Option<i64>,
}

impl CollectiveMessage {
    /// As an operator of `c10d` takes it: the output first, if it is a separate tensor.
    pub(super) fn of_operator(pattern: CollectivePattern, given: &CallArguments) -> Self {
        if !has_two(pattern) {
            return Self::default().with(given.tensors(0), given.tensors(0));
        }
        let mut splits = given.lists(2).into_iter();
        let out_split = splits.next().unwrap_or_default();
        let is_exchange = pattern == CollectivePattern::AllToAll;
        Self {
            out_split: if is_exchange { out_split } else { Vec::new() },
            in_split: splits.next().filter(|_| is_exchange).unwrap_or_default(),
            ..Self::default()
        }
        .with(given.tensors(1), given.tensors(0))
    }

    /// As a functional operator takes it, which gives new tensors.
    pub(super) fn of_function(pattern: CollectivePattern, given: &CallArguments) -> Self {
        let mut splits = given.lists(1).into_iter().filter(|_| pattern == CollectivePattern::AllToAll);
        Self {
            out_split: splits.next().unwrap_or_default(),
            in_split: splits.next().unwrap_or_default(),
            ..Self::default()
        }
        .with(given.tensors(0), given.results())
    }

    /// As a record states it, with other known facts of the collective.
    pub(super) fn of_record(row: &Collective, given: &CallArguments) -> Self {
        let facts = &row.facts;
        let split = |text: &Option<String>| {
            text.as_deref().and_then(|text| serde_json::from_str(text).ok()).map(|list| numbers(&list))
        };
        let is_exchange = row.pattern == Some(CollectivePattern::AllToAll);
        let message = Self {
            in_split: split(&facts.in_split).filter(|_| is_exchange).unwrap_or_default(),
            out_split: split(&facts.out_split).filter(|_| is_exchange).unwrap_or_default(),
            dtype: facts.dtype.clone(),
            elem_bytes: facts.elem_bytes,
            ..Self::default()
        };
        let or_fact = |tensors: TensorGroup, fact: Option<i64>| match fact {
            Some(elems) if tensors.elems.is_empty() => TensorGroup { elems: vec![elems], ..tensors },
            _ => tensors,
        };
        message.with(or_fact(given.tensors(0), facts.in_elems), or_fact(given.results(), facts.out_elems))
    }

    fn with(self, given: TensorGroup, taken: TensorGroup) -> Self {
        let spelled = given.dtype.or(taken.dtype).map(|spelling| dtype(&spelling).0);
        Self {
            in_elems: given.elems,
            out_elems: taken.elems,
            dtype: spelled.or(self.dtype),
            elem_bytes: given.elem_bytes.or(taken.elem_bytes).or(self.elem_bytes),
            ..self
        }
    }
}

/// Whether the output is a separate tensor.
fn has_two(pattern: CollectivePattern) -> bool {
    use CollectivePattern::{AllGather, AllToAll, Gather, ReduceScatter, Scatter};
    matches!(pattern, AllGather | AllToAll | Gather | ReduceScatter | Scatter)
}

/// Numbers as a JSON list.
pub(super) fn put_numbers(out: &mut String, numbers: &[i64]) -> bool {
    out.push('[');
    for (at, number) in numbers.iter().enumerate() {
        let _ = write!(out, "{}{number}", if at == 0 { "" } else { "," });
    }
    out.push(']');
    true
}
