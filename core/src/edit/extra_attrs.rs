//! Attributes and keys of a node that have no column.

use serde_json::Value;

use crate::json::{Scanner, write_string};
use crate::trace::layout::{LayoutSlot, parts};

/// One value that no column holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ExtraAttr {
    pub(super) key: String,
    /// The type that an attribute has.
    pub(super) type_name: String,
    /// The value, as JSON.
    value: String,
}

/// All of a node's.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ExtraAttrs {
    /// Attributes.
    pub(super) attrs: Vec<ExtraAttr>,
    /// Keys of the node itself.
    pub(super) keys: Vec<ExtraAttr>,
}

/// Marks the place of a value in a layout that is read as JSON; the value's number follows.
const PLACE: &str = "\u{1}";

impl ExtraAttrs {
    pub(super) fn of(layout: &str, rest: &str) -> Self {
        let mut found = Self::default();
        if rest.is_empty() {
            return found;
        }
        let values = values(rest);
        let document: Value = serde_json::from_str(&with_places(layout)).unwrap_or_default();
        let place = |value: &Value| value.as_str()?.strip_prefix(PLACE)?.parse::<usize>().ok();
        let other = |key: &str, type_name: &str, place: usize| {
            let value = values.get(place).cloned().unwrap_or_else(|| String::from("null"));
            let type_name = match type_name {
                "" if value.starts_with('"') => "string",
                "" => "int64",
                known => known,
            };
            ExtraAttr { key: key.to_owned(), type_name: type_name.to_owned(), value }
        };
        for attr in document.get("attrs").and_then(Value::as_array).into_iter().flatten() {
            let text = |key: &str| attr.get(key).and_then(Value::as_str).unwrap_or("");
            if let Some(place) = attr.get("value").and_then(place) {
                found.attrs.push(other(text("name"), text("type"), place));
            }
        }
        let keys = document.as_object().into_iter().flatten();
        let mut keys: Vec<_> = keys.filter_map(|(key, value)| Some((place(value)?, key))).collect();
        keys.sort_unstable();
        found.keys = keys.into_iter().map(|(place, key)| other(key, "", place)).collect();
        found
    }

    /// Adds an attribute, if there is none of the name.
    pub(super) fn add(&mut self, key: &str, type_name: &str, value: &Value) {
        if self.attrs.iter().all(|attr| attr.key != key) {
            let (key, type_name) = (key.to_owned(), type_name.to_owned());
            self.attrs.push(ExtraAttr { key, type_name, value: value.to_string() });
        }
    }

    /// The values as one JSON object, attributes first.
    pub(super) fn object(&self) -> String {
        let mut out = String::new();
        for other in self.attrs.iter().chain(&self.keys) {
            out.push(if out.is_empty() { '{' } else { ',' });
            write_string(&mut out, &other.key);
            out.push(':');
            out.push_str(&other.value);
        }
        if !out.is_empty() {
            out.push('}');
        }
        out
    }
}

/// The values of an object, as JSON, in its order.
fn values(object: &str) -> Vec<String> {
    let mut scanner = Scanner::new(object.as_bytes());
    let mut values = Vec::new();
    let _ = scanner.enter_object();
    while let Ok(Some(_)) = scanner.next_key() {
        match scanner.skip_value() {
            Ok(value) => values.push(String::from_utf8_lossy(value).into_owned()),
            Err(_) => break,
        }
    }
    values
}

/// A layout as JSON: `null` for the columns, a numbered place for each of the rest.
fn with_places(layout: &str) -> String {
    let mut out = String::new();
    let mut num_places = 0;
    for (text, slot) in parts(layout) {
        out.push_str(text);
        match slot {
            Some(LayoutSlot::Rest) => {
                write_string(&mut out, &format!("{PLACE}{num_places}"));
                num_places += 1;
            }
            Some(_) => out.push_str("null"),
            None => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_told_from_keys() {
        let mark = LayoutSlot::Rest.mark();
        let layout = format!(
            r#"{{"z":{mark},"id":{},"attrs":[{{"name":"pg","type":"uint64","value":{mark}}}],"a":{mark}}}"#,
            LayoutSlot::Id.mark()
        );
        let rest = ExtraAttrs::of(&layout, r#"{"z":1.50,"pg":7,"a":["x"]}"#);
        assert_eq!(rest.object(), r#"{"pg":7,"z":1.50,"a":["x"]}"#);
        assert_eq!((rest.attrs[0].type_name.as_str(), rest.keys.len()), ("uint64", 2));
    }
}
