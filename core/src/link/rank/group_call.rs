//! Compares the calls of ranks that may be of one process group.

use serde::{Deserialize, Serialize};

/// A collective of one rank, by all that tells its process group. Sizes are in elements, one per
/// tensor; empty ones are not known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupCall {
    /// Its name, one for all spellings.
    pub collective: String,
    /// Type of the elements, if recorded.
    pub dtype: Option<String>,
    /// The root, as its place in the group.
    pub root: Option<i64>,
    /// The reduction, if recorded.
    pub reduction: Option<String>,
    /// Elements of the tensors that go in.
    pub in_elems: Vec<i64>,
    /// Elements of the tensors that come out.
    pub out_elems: Vec<i64>,
    /// Elements for each rank; empty for even parts.
    pub in_split: Vec<i64>,
    /// Elements from each rank; empty for even parts.
    pub out_split: Vec<i64>,
    /// How many ranks its group has, if recorded.
    pub size: Option<usize>,
    /// Places of the group's members among the compared ranks, ascending; `None` where no file
    /// names the group.
    pub members: Option<Vec<usize>>,
}

/// The facts of a call that all ranks of its group state alike: name, type, root, reduction, sizes.
pub(super) type GroupCallKey<'a> = (&'a str, Option<&'a str>, Option<i64>, Option<&'a str>, &'a [i64]);

impl GroupCall {
    /// Whether each rank sends other data to each other rank.
    fn is_exchange(&self) -> bool {
        matches!(self.collective.as_str(), "all_to_all" | "all_to_allv")
    }

    /// Whether each rank receives the data of all ranks.
    fn is_gathered(&self) -> bool {
        matches!(self.collective.as_str(), "all_gather" | "all_gather_base" | "allgather_into_tensor_coalesced")
    }

    /// Whether each rank receives one part of the reduced data.
    fn is_scattered(&self) -> bool {
        matches!(self.collective.as_str(), "reduce_scatter" | "reduce_scatter_base" | "reduce_scatter_tensor_coalesced")
    }

    /// Whether sizes, parts and root are valid for a group of so many ranks.
    pub fn fits(&self, size: usize) -> bool {
        if self.root.is_some_and(|root| root < 0 || root >= size as i64) || self.size.is_some_and(|own| own != size) {
            return false;
        }
        if [&self.in_split, &self.out_split].into_iter().any(|split| !split.is_empty() && split.len() != size) {
            return false;
        }
        if self.is_gathered() {
            return is_of_all(&self.out_elems, &self.in_elems, size);
        }
        if self.is_scattered() {
            return is_of_all(&self.in_elems, &self.out_elems, size);
        }
        self.collective != "all_to_all" || self.in_elems.len() == size && self.out_elems.len() == size
    }

    /// Whether nothing contradicts that two calls, of ranks at these places of a group, are one
    /// communication.
    pub(super) fn agrees(&self, other: &Self, places: [usize; 2]) -> bool {
        self.difference(other, places).is_none()
    }

    /// Names the facts in which two calls, of ranks at these places of a group, differ: they are
    /// not one communication. Unknown facts contradict nothing.
    pub fn difference(&self, other: &Self, places: [usize; 2]) -> Option<&'static str> {
        let ends = [self, other].map(|call| matches!(call.collective.as_str(), "send" | "recv"));
        match () {
            () if ends == [true, true] => self.message_difference(other),
            () if self.collective != other.collective => Some("names differ"),
            () if !may_equal(self.dtype.as_ref(), other.dtype.as_ref()) => Some("types differ"),
            () if !may_equal(self.root.as_ref(), other.root.as_ref()) => Some("roots differ"),
            () if !may_equal(self.reduction.as_ref(), other.reduction.as_ref()) => Some("reductions differ"),
            () if self.is_exchange() => self.exchange_difference(other, places),
            () => self.size_difference(other),
        }
    }

    /// The same of a send and its receive.
    fn message_difference(&self, other: &Self) -> Option<&'static str> {
        match () {
            () if !may_equal(self.dtype.as_ref(), other.dtype.as_ref()) => Some("types differ"),
            () if sum(&self.in_elems) != sum(&other.in_elems) => Some("sizes differ"),
            () => None,
        }
    }

    fn size_difference(&self, other: &Self) -> Option<&'static str> {
        let has_parts = self.is_gathered() && self.out_elems.len() > 1 && self.out_elems.len() == other.out_elems.len();
        let (own, others) =
            if has_parts { (&self.out_elems[..], &other.out_elems[..]) } else { (self.sizes(), other.sizes()) };
        (!own.is_empty() && !others.is_empty() && own != others).then_some("sizes differ")
    }

    /// Sizes that are equal on all ranks.
    fn sizes(&self) -> &[i64] {
        match self.collective.as_str() {
            "barrier" => &[],
            "scatter" => &self.out_elems,
            _ if self.is_scattered() => &self.out_elems,
            _ => &self.in_elems,
        }
    }

    pub(super) fn key(&self) -> GroupCallKey<'_> {
        let sizes = if self.is_exchange() { &[] } else { self.sizes() };
        (&self.collective, self.dtype.as_deref(), self.root, self.reduction.as_deref(), sizes)
    }

    /// The parts that it gives and takes; empty for even ones.
    fn parts(&self) -> [&[i64]; 2] {
        if self.collective == "all_to_all" {
            [&self.in_elems, &self.out_elems]
        } else {
            [&self.in_split, &self.out_split]
        }
    }

    /// Compares sent with received sizes in both directions.
    fn exchange_difference(&self, other: &Self, [here, there]: [usize; 2]) -> Option<&'static str> {
        if here == there {
            return None;
        }
        let ([sent, taken], [other_sent, other_taken]) = (self.parts(), other.parts());
        if sent.is_empty() && other_sent.is_empty() {
            let is_known = !self.in_elems.is_empty() && !other.in_elems.is_empty();
            return (is_known && sum(&self.in_elems) != sum(&other.in_elems)).then_some("sizes differ");
        }
        let is_other = |sent: &[i64], to: usize, taken: &[i64], from: usize| {
            sent.get(to).zip(taken.get(from)).is_some_and(|(sent, taken)| sent != taken)
        };
        match () {
            () if is_other(sent, there, other_taken, here) => Some("parts differ"),
            () if is_other(other_sent, here, taken, there) => Some("parts back differ"),
            () => None,
        }
    }
}

fn sum(elems: &[i64]) -> i64 {
    elems.iter().fold(0, |sum, elems| sum.saturating_add(*elems))
}

/// Whether two facts are equal, as far as both are known.
fn may_equal<T: PartialEq>(one: Option<&T>, other: Option<&T>) -> bool {
    one.zip(other).is_none_or(|(one, other)| one == other)
}

/// Whether there is one tensor per rank, or tensors with one part per rank.
fn is_of_all(parts: &[i64], own: &[i64], size: usize) -> bool {
    let is_known = !parts.is_empty() && !own.is_empty();
    !is_known || size > 1 && parts.len() == size || sum(own).checked_mul(size as i64) == Some(sum(parts))
}
