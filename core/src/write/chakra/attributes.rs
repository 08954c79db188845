//! Adds attributes of a node to the columns.

use serde_json::Value;

use crate::chakra::{Chakra, ChakraAttribute};
use crate::id::StrId;

/// The attributes that are added last.
pub(super) struct AttributeWriter<'a> {
    chakra: &'a mut Chakra,
    start: u32,
}

impl<'a> AttributeWriter<'a> {
    pub(super) fn of(chakra: &'a mut Chakra) -> Self {
        let start = chakra.attributes.len() as u32;
        Self { chakra, start }
    }

    /// Where they are.
    pub(super) fn range(&self) -> std::ops::Range<u32> {
        self.start..self.chakra.attributes.len() as u32
    }

    pub(super) fn int64(&mut self, name: &str, value: i64) {
        self.push(name, "int64", &value.to_string());
    }

    pub(super) fn uint64(&mut self, name: &str, value: u64) {
        self.push(name, "uint64", &value.to_string());
    }

    /// A number of a type too small for all of them: the nearest that there is.
    pub(super) fn int32(&mut self, name: &str, value: i64) {
        self.push(name, "int32", &value.clamp(i64::from(i32::MIN), i64::from(i32::MAX)).to_string());
    }

    pub(super) fn bool(&mut self, name: &str, value: bool) {
        self.push(name, "bool", if value { "true" } else { "false" });
    }

    pub(super) fn string(&mut self, name: &str, value: &str) {
        self.push(name, "string", &Value::from(value).to_string());
    }

    fn push(&mut self, name: &str, value_type: &'static str, value: &str) {
        let strings = &mut self.chakra.strings;
        let (name, value) = (strings.intern(name), strings.intern(value));
        self.chakra.attributes.push(ChakraAttribute { name, doc: StrId::EMPTY, value_type, value });
    }
}
