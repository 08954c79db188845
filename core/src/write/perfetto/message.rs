//! Appends fields to a message of protobuf.

use crate::varint;

/// A message under construction.
#[derive(Debug, Default)]
pub(super) struct WireMessage(pub(super) Vec<u8>);

impl WireMessage {
    pub(super) fn number(&mut self, field: u32, number: u64) {
        self.varint(u64::from(field) << 3);
        self.varint(number);
    }

    pub(super) fn signed(&mut self, field: u32, number: i64) {
        self.number(field, number as u64);
    }

    /// Eight bytes: a number of a flow, or the bits of a number with a point.
    pub(super) fn fixed(&mut self, field: u32, bits: u64) {
        self.varint(u64::from(field) << 3 | 1);
        self.0.extend_from_slice(&bits.to_le_bytes());
    }

    pub(super) fn text(&mut self, field: u32, text: &[u8]) {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(text.len() as u64);
        self.0.extend_from_slice(text);
    }

    pub(super) fn message(&mut self, field: u32, fill: impl FnOnce(&mut Self)) {
        let mut inner = Self::default();
        fill(&mut inner);
        self.text(field, &inner.0);
    }

    fn varint(&mut self, number: u64) {
        varint::push(&mut self.0, number);
    }
}
