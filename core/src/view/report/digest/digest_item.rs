//! An item of a digest: named values with a place in the order of importance.

use super::digest_value::DigestValue;

/// A named value of an item.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DigestField {
    /// The key in JSON; times end in `_ns`, sizes in `_bytes`.
    pub(super) key: &'static str,
    /// The heading in Markdown; empty where the value speaks for itself.
    pub(super) label: &'static str,
    pub(super) value: DigestValue,
    /// Whether it has a line of its own in a list.
    pub(super) has_line: bool,
}

/// A row of a table or an entry of a list.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DigestItem {
    /// The least is the most important.
    pub(super) weight: u32,
    pub(super) fields: Vec<DigestField>,
}

impl DigestItem {
    pub(super) fn new(weight: u32) -> Self {
        Self { weight, fields: Vec::new() }
    }

    /// The same with another value.
    #[must_use]
    pub(super) fn with(mut self, key: &'static str, label: &'static str, value: DigestValue) -> Self {
        self.fields.push(DigestField { key, label, value, has_line: false });
        self
    }

    /// The same with another value, if it is known.
    #[must_use]
    pub(super) fn maybe(self, key: &'static str, label: &'static str, value: Option<DigestValue>) -> Self {
        match value {
            Some(value) => self.with(key, label, value),
            None => self,
        }
    }

    /// The same with a value that has a line of its own, if it is known.
    #[must_use]
    pub(super) fn line(mut self, key: &'static str, label: &'static str, value: Option<DigestValue>) -> Self {
        self.fields.extend(value.map(|value| DigestField { key, label, value, has_line: true }));
        self
    }
}

/// Weights of the items of a block: the first, and the step to the next.
#[derive(Debug, Clone, Copy)]
pub(super) struct ItemWeights {
    pub(super) first: u32,
    pub(super) step: u32,
}

impl ItemWeights {
    /// The weight of the item at a place.
    pub(super) fn at(self, place: usize) -> u32 {
        self.first.saturating_add(self.step.saturating_mul(place as u32))
    }
}
