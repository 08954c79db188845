//! Adds labels beside names, where they differ.

use serde_json::{Map, Value};

use crate::label::Label;

/// The label of a name; `None` where it is the name.
pub(super) fn label(name: &str) -> Option<String> {
    Some(Label::of(name).to_string()).filter(|label| label != name)
}

/// The labels of those names that have another, by the names.
pub(super) fn labels<'a>(names: impl Iterator<Item = &'a str>) -> Map<String, Value> {
    names.filter_map(|name| Some((name.to_owned(), label(name)?.into()))).collect()
}
