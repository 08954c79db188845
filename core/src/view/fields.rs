//! The fields of a request. They are read by hand: what serde derives for a request whose type is one of its fields takes forty
//! kilobytes, which every page carries.

use serde_json::{Map, Value};

use crate::error::{Error, ErrorKind};

/// The fields of a JSON object.
#[derive(Debug)]
pub(super) struct Fields(Map<String, Value>);

/// What a field may be.
pub(super) trait Field: Sized {
    /// What it is called in an error.
    const NOUN: &'static str;

    fn of(value: &Value) -> Option<Self>;
}

impl Fields {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Error> {
        serde_json::from_slice(bytes).map(Self).map_err(|error| unlike("a request in JSON", error.to_string()))
    }

    /// A field that must be there.
    pub(super) fn get<T: Field>(&self, name: &str) -> Result<T, Error> {
        self.maybe(name)?.ok_or_else(|| wrong(name, T::NOUN, None))
    }

    /// A field that may be missing, or null.
    pub(super) fn maybe<T: Field>(&self, name: &str) -> Result<Option<T>, Error> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => T::of(value).map(Some).ok_or_else(|| wrong(name, T::NOUN, Some(value))),
        }
    }
}

fn wrong(name: &str, noun: &str, found: Option<&Value>) -> Error {
    unlike(&format!("{noun} as {name}"), found.map_or_else(|| "none".to_owned(), Value::to_string))
}

pub(super) fn unlike(expected: &str, found: String) -> Error {
    ErrorKind::Request { expected: expected.to_owned(), found }.into()
}

impl Field for f64 {
    const NOUN: &'static str = "a number";

    fn of(value: &Value) -> Option<Self> {
        value.as_f64()
    }
}

impl Field for i64 {
    const NOUN: &'static str = "an integer";

    fn of(value: &Value) -> Option<Self> {
        value.as_i64()
    }
}

impl Field for u32 {
    const NOUN: &'static str = "a count";

    fn of(value: &Value) -> Option<Self> {
        value.as_u64()?.try_into().ok()
    }
}

impl Field for usize {
    const NOUN: &'static str = "a count";

    fn of(value: &Value) -> Option<Self> {
        value.as_u64()?.try_into().ok()
    }
}

impl Field for bool {
    const NOUN: &'static str = "true or false";

    fn of(value: &Value) -> Option<Self> {
        value.as_bool()
    }
}

impl Field for String {
    const NOUN: &'static str = "a text";

    fn of(value: &Value) -> Option<Self> {
        value.as_str().map(str::to_owned)
    }
}

impl Field for Map<String, Value> {
    const NOUN: &'static str = "an object";

    fn of(value: &Value) -> Option<Self> {
        value.as_object().cloned()
    }
}

impl Field for Vec<u32> {
    const NOUN: &'static str = "counts";

    fn of(value: &Value) -> Option<Self> {
        value.as_array()?.iter().map(u32::of).collect()
    }
}

impl Field for Vec<(String, String)> {
    const NOUN: &'static str = "pairs of texts";

    fn of(value: &Value) -> Option<Self> {
        let pair = |value: &Value| match &value.as_array()?[..] {
            [key, value] => Some((String::of(key)?, String::of(value)?)),
            _ => None,
        };
        value.as_array()?.iter().map(pair).collect()
    }
}
