//! Reads the fields of a request by hand: serde's derive for a tagged request takes forty kilobytes
//! of every page.

use serde_json::{Map, Value};

use crate::error::{Error, ErrorKind};

/// The fields of a JSON object.
#[derive(Debug)]
pub(super) struct RequestFields(Map<String, Value>);

/// The type of a field.
pub(super) trait RequestField: Sized {
    /// The name of the type in an error.
    const NOUN: &'static str;

    fn of(value: &Value) -> Option<Self>;
}

impl RequestFields {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Error> {
        serde_json::from_slice(bytes).map(Self).map_err(|error| unexpected("a request in JSON", error.to_string()))
    }

    /// A field that must be there.
    pub(super) fn get<T: RequestField>(&self, name: &str) -> Result<T, Error> {
        self.maybe(name)?.ok_or_else(|| wrong(name, T::NOUN, None))
    }

    /// A field that may be missing, or null.
    pub(super) fn maybe<T: RequestField>(&self, name: &str) -> Result<Option<T>, Error> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => T::of(value).map(Some).ok_or_else(|| wrong(name, T::NOUN, Some(value))),
        }
    }
}

fn wrong(name: &str, noun: &str, found: Option<&Value>) -> Error {
    unexpected(&format!("{noun} as {name}"), found.map_or_else(|| "none".to_owned(), Value::to_string))
}

pub(super) fn unexpected(expected: &str, found: String) -> Error {
    ErrorKind::Request { expected: expected.to_owned(), found }.into()
}

impl RequestField for f64 {
    const NOUN: &'static str = "a number";

    fn of(value: &Value) -> Option<Self> {
        value.as_f64()
    }
}

impl RequestField for i64 {
    const NOUN: &'static str = "an integer";

    fn of(value: &Value) -> Option<Self> {
        value.as_i64()
    }
}

impl RequestField for u32 {
    const NOUN: &'static str = "a whole number from 0";

    fn of(value: &Value) -> Option<Self> {
        value.as_u64()?.try_into().ok()
    }
}

impl RequestField for usize {
    const NOUN: &'static str = "a whole number from 0";

    fn of(value: &Value) -> Option<Self> {
        value.as_u64()?.try_into().ok()
    }
}

impl RequestField for bool {
    const NOUN: &'static str = "true or false";

    fn of(value: &Value) -> Option<Self> {
        value.as_bool()
    }
}

impl RequestField for String {
    const NOUN: &'static str = "a string";

    fn of(value: &Value) -> Option<Self> {
        value.as_str().map(str::to_owned)
    }
}

impl RequestField for Map<String, Value> {
    const NOUN: &'static str = "an object";

    fn of(value: &Value) -> Option<Self> {
        value.as_object().cloned()
    }
}

impl RequestField for Vec<u32> {
    const NOUN: &'static str = "counts";

    fn of(value: &Value) -> Option<Self> {
        value.as_array()?.iter().map(u32::of).collect()
    }
}

impl RequestField for Vec<(String, String)> {
    const NOUN: &'static str = "pairs of strings";

    fn of(value: &Value) -> Option<Self> {
        let pair = |value: &Value| match &value.as_array()?[..] {
            [key, value] => Some((String::of(key)?, String::of(value)?)),
            _ => None,
        };
        value.as_array()?.iter().map(pair).collect()
    }
}
