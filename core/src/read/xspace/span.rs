//! Places of messages in the bytes of a plane.

use crate::read::wire::{WireFields, WireValue};

/// Where a message or a text is in a plane. No message of protobuf has more than 2 GiB.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PlaneSpan {
    start: u32,
    end: u32,
}

impl PlaneSpan {
    /// All of a plane.
    pub(super) fn whole(plane: &[u8]) -> Self {
        Self { start: 0, end: u32::try_from(plane.len()).unwrap_or(u32::MAX) }
    }

    pub(super) fn of(self, plane: &[u8]) -> &[u8] {
        plane.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    /// The part from a byte on.
    pub(super) fn from(self, at: usize) -> Self {
        Self { start: self.start.saturating_add(u32::try_from(at).unwrap_or(u32::MAX)).min(self.end), ..self }
    }

    /// The texts and messages inside a message, with their numbers and places. The last may be cut.
    /// Gives whether the message is damaged.
    pub(super) fn each(self, plane: &[u8], mut take: impl FnMut(u32, Self)) -> bool {
        let message = self.of(plane);
        let mut fields = WireFields::new(message);
        while let Some((field, value)) = fields.next() {
            if let WireValue::Bytes(bytes) = value {
                let end = message.len() - fields.rest().len();
                take(field, Self { end: self.start + end as u32, ..self.from(end - bytes.len()) });
            }
        }
        if let Some((field, bytes)) = fields.cut() {
            take(field, self.from(message.len() - bytes.len()));
        }
        fields.is_damaged
    }
}
