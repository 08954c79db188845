//! Reads JSON into the values of a pickle.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::Pickle;
use super::value::{PickleValue, PickleValues, ValueId};
use crate::error::{Error, ErrorKind, Position};

use crate::warning::Warnings;

/// The values of a JSON text, as a pickle would give them.
pub(in crate::read) fn parse<'a>(
    text: &'a [u8],
    file: Option<&Arc<str>>,
    expected: &'static str,
) -> Result<Pickle<'a>, Error> {
    let mut values = PickleValues::default();
    let mut json = serde_json::Deserializer::from_slice(text);
    let root = PickleTextBuilder(&mut values).deserialize(&mut json).and_then(|root| json.end().map(|()| root));
    let root = root.map_err(|error| {
        let position = Position { file: file.cloned(), ..Position::default() };
        ErrorKind::Malformed { expected, found: error.to_string(), position }
    })?;
    Ok(Pickle { values, root, warnings: Warnings::default() })
}

/// Adds parsed values; the parser limits their depth.
struct PickleTextBuilder<'v, 'a>(&'v mut PickleValues<'a>);

impl<'a> PickleTextBuilder<'_, 'a> {
    fn add<E: serde::de::Error>(self, value: PickleValue<'a>) -> Result<ValueId, E> {
        self.0.push(value).map_err(E::custom)
    }
}

impl<'a> DeserializeSeed<'a> for PickleTextBuilder<'_, 'a> {
    type Value = ValueId;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<ValueId, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'a> Visitor<'a> for PickleTextBuilder<'_, 'a> {
    type Value = ValueId;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<ValueId, E> {
        Ok(ValueId::NONE)
    }

    fn visit_bool<E: serde::de::Error>(self, flag: bool) -> Result<ValueId, E> {
        Ok(if flag { ValueId::TRUE } else { ValueId::FALSE })
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<ValueId, E> {
        self.add(PickleValue::Int(number.into()))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<ValueId, E> {
        self.add(PickleValue::Int(number.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<ValueId, E> {
        self.add(PickleValue::Float(number))
    }

    fn visit_borrowed_str<E: serde::de::Error>(self, text: &'a str) -> Result<ValueId, E> {
        self.add(PickleValue::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<ValueId, E> {
        self.add(PickleValue::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut sequence: A) -> Result<ValueId, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element_seed(PickleTextBuilder(&mut *self.0))? {
            items.push(item);
        }
        self.add(PickleValue::List(items))
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<ValueId, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key_seed(PickleTextBuilder(&mut *self.0))? {
            entries.push((key, map.next_value_seed(PickleTextBuilder(&mut *self.0))?));
        }
        self.add(PickleValue::Dict(entries))
    }
}
