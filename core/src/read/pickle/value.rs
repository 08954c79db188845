//! Plain values by handle; a shared value is stored once.

use std::borrow::Cow;

use crate::error::{Error, ErrorKind, Position};

/// A value's place among the [`PickleValues`].
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

/// Values that Python builds without running code. A list or a dict may contain itself.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::read) enum PickleValue<'a> {
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

impl PickleValue<'_> {
    /// Its kind in words.
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
pub(in crate::read) struct PickleValues<'a>(Vec<PickleValue<'a>>);

impl Default for PickleValues<'_> {
    fn default() -> Self {
        Self(vec![PickleValue::None, PickleValue::Bool(false), PickleValue::Bool(true)])
    }
}

impl<'a> PickleValues<'a> {
    /// Adds a value; an error when there are too many to tell apart.
    pub(in crate::read) fn push(&mut self, value: PickleValue<'a>) -> Result<ValueId, Error> {
        let limit = u64::from(u32::MAX);
        let id = u32::try_from(self.0.len()).map_err(|_| ErrorKind::Limit {
            unit: "values in a pickle",
            limit,
            position: Position::default(),
        })?;
        self.0.push(value);
        Ok(ValueId(id))
    }

    /// Removes the value that was added last.
    pub(super) fn pop(&mut self) {
        self.0.pop();
    }

    pub(in crate::read) fn len(&self) -> usize {
        self.0.len()
    }

    pub(in crate::read) fn get(&self, id: ValueId) -> &PickleValue<'a> {
        &self.0[id.index()]
    }

    pub(super) fn get_mut(&mut self, id: ValueId) -> &mut PickleValue<'a> {
        &mut self.0[id.index()]
    }

    /// The text of a str.
    pub(in crate::read) fn text(&self, id: ValueId) -> Option<&str> {
        if let PickleValue::Text(text) = self.get(id) { Some(text) } else { None }
    }

    /// The items of a list or a tuple.
    pub(in crate::read) fn items(&self, id: ValueId) -> Option<&[ValueId]> {
        if let PickleValue::List(items) | PickleValue::Tuple(items) = self.get(id) { Some(items) } else { None }
    }

    /// The keys and values of a dict.
    pub(in crate::read) fn entries(&self, id: ValueId) -> Option<&[(ValueId, ValueId)]> {
        if let PickleValue::Dict(entries) = self.get(id) { Some(entries) } else { None }
    }
}
