//! Defines and checks the options of an analysis.

use serde_json::{Map, Value};

use crate::error::{Error, ErrorKind};

/// An option of an analysis.
#[derive(Debug)]
pub struct OptionDoc {
    /// The name it is given by; times end in `_ns`.
    pub name: &'static str,
    /// A one-line description.
    pub doc: &'static str,
    /// Its type and default.
    pub kind: OptionKind,
}

/// The type of an option, with its default.
#[derive(Debug, Clone, Copy)]
pub enum OptionKind {
    /// One of some words; the first when it is not given.
    Choice(&'static [&'static str]),
    /// A whole number from 0; this one when it is not given.
    Count(i64),
    /// A whole number; none when it is not given.
    Id,
    /// Any number from 0; this one when it is not given.
    Number(f64),
    /// Yes or no; no when it is not given.
    Flag,
    /// A text; none when it is not given.
    Text,
}

/// Given options, with defaults for the others.
#[derive(Debug, Default)]
pub struct Options {
    all: &'static [OptionDoc],
    given: Map<String, Value>,
}

impl Options {
    /// Checks names and types. An error lists the known names.
    pub fn new(all: &'static [OptionDoc], mut given: Map<String, Value>) -> Result<Self, Error> {
        given.retain(|_, value| !value.is_null());
        for (name, value) in &given {
            let Some(option) = all.iter().find(|option| option.name == name) else {
                let names: Vec<_> = all.iter().map(|option| option.name).collect();
                let expected = format!("one of the options {names:?}");
                return Err(ErrorKind::UnknownOption { expected, found: name.clone() }.into());
            };
            option.check(value)?;
        }
        Ok(Self { all, given })
    }

    /// The word of a choice.
    pub fn choice(&self, name: &str) -> &'static str {
        let Some(OptionKind::Choice(words)) = self.kind(name) else { return "" };
        let given = self.given.get(name).and_then(Value::as_str);
        words.iter().copied().find(|word| Some(*word) == given).or(words.first().copied()).unwrap_or("")
    }

    /// A count, or a time in nanoseconds.
    pub fn count(&self, name: &str) -> i64 {
        let Some(OptionKind::Count(default)) = self.kind(name) else { return 0 };
        self.given.get(name).and_then(Value::as_i64).unwrap_or(default)
    }

    /// A number that names something, where one was given.
    pub fn id(&self, name: &str) -> Option<i64> {
        self.given.get(name).and_then(Value::as_i64)
    }

    /// A number.
    pub fn number(&self, name: &str) -> f64 {
        let Some(OptionKind::Number(default)) = self.kind(name) else { return 0.0 };
        self.given.get(name).and_then(Value::as_f64).unwrap_or(default)
    }

    /// Whether a flag is set.
    pub fn flag(&self, name: &str) -> bool {
        self.given.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// A text, where one was given.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.given.get(name).and_then(Value::as_str)
    }

    fn kind(&self, name: &str) -> Option<OptionKind> {
        self.all.iter().find(|option| option.name == name).map(|option| option.kind)
    }
}

impl OptionDoc {
    fn check(&self, value: &Value) -> Result<(), Error> {
        let (is_right, expected) = match self.kind {
            OptionKind::Choice(words) => {
                (value.as_str().is_some_and(|word| words.contains(&word)), format!("one of {words:?}"))
            }
            OptionKind::Count(_) => (
                value.as_i64().is_some_and(|count| count >= 0),
                String::from(
                    "a whole number from \
                 0",
                ),
            ),
            OptionKind::Id => (value.as_i64().is_some(), String::from("a whole number")),
            OptionKind::Number(_) => {
                (value.as_f64().is_some_and(|number| number >= 0.0), String::from("a number from 0"))
            }
            OptionKind::Flag => (value.is_boolean(), String::from("true or false")),
            OptionKind::Text => (value.is_string(), String::from("a string")),
        };
        if is_right { Ok(()) } else { Err(unexpected(&format!("{expected} as {}", self.name), &value.to_string())) }
    }
}

pub(super) fn unexpected(expected: &str, found: &str) -> Error {
    ErrorKind::Request { expected: expected.to_owned(), found: found.to_owned() }.into()
}
