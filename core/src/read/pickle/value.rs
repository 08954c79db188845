//! Plain values, by handle: one that a pickle refers to twice is there once.

use std::borrow::Cow;

use crate::error::{Error, ErrorKind};

/// A value's place among the [`Values`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::read) struct ValueId(u32);

impl ValueId {
    pub(in crate::read) const NONE: Self = Self(0);
    pub(in crate::read) const FALSE: Self = Self(1);
    pub(in crate::read) const TRUE: Self = Self(2);

    pub(in crate::read) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What Python builds without running anything. A list or a dict may hold itself.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::read) enum Value<'a> {
    None,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(Cow<'a, str>),
    Bytes(&'a [u8]),
    List(Vec<ValueId>),
    Tuple(Vec<ValueId>),
    Set(Vec<ValueId>),
    /// Keys and values in the order of assignment; of equal keys the last counts.
    Dict(Vec<(ValueId, ValueId)>),
}

impl Value<'_> {
    /// What it is, in words.
    pub(in crate::read) fn words(&self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Bool(_) => "a bool",
            Self::Int(_) => "an int",
            Self::Float(_) => "a float",
            Self::Text(_) => "a str",
            Self::Bytes(_) => "bytes",
            Self::List(_) => "a list",
            Self::Tuple(_) => "a tuple",
            Self::Set(_) => "a set",
            Self::Dict(_) => "a dict",
        }
    }
}

/// All values of a file.
#[derive(Debug)]
pub(in crate::read) struct Values<'a>(Vec<Value<'a>>);

impl Default for Values<'_> {
    fn default() -> Self {
        Self(vec![Value::None, Value::Bool(false), Value::Bool(true)])
    }
}

impl<'a> Values<'a> {
    /// Adds a value; an error when there are too many to tell apart.
    pub(in crate::read) fn push(&mut self, value: Value<'a>) -> Result<ValueId, Error> {
        let limit = u64::from(u32::MAX);
        let id = u32::try_from(self.0.len()).map_err(|_| ErrorKind::Limit { unit: "values in a pickle", limit })?;
        self.0.push(value);
        Ok(ValueId(id))
    }

    pub(in crate::read) fn len(&self) -> usize {
        self.0.len()
    }

    pub(in crate::read) fn get(&self, id: ValueId) -> &Value<'a> {
        &self.0[id.index()]
    }

    pub(super) fn get_mut(&mut self, id: ValueId) -> &mut Value<'a> {
        &mut self.0[id.index()]
    }

    /// The text of a str.
    pub(in crate::read) fn text(&self, id: ValueId) -> Option<&str> {
        if let Value::Text(text) = self.get(id) { Some(text) } else { None }
    }

    /// The items of a list or a tuple.
    pub(in crate::read) fn items(&self, id: ValueId) -> Option<&[ValueId]> {
        if let Value::List(items) | Value::Tuple(items) = self.get(id) { Some(items) } else { None }
    }

    /// The keys and values of a dict.
    pub(in crate::read) fn entries(&self, id: ValueId) -> Option<&[(ValueId, ValueId)]> {
        if let Value::Dict(entries) = self.get(id) { Some(entries) } else { None }
    }
}
