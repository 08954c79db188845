//! Writes packets, with the texts that they are the first to refer to.

use std::io;

use rustc_hash::FxHashMap;

use super::message::WireMessage;
use crate::perfetto::{PACKET_TAG, packet};
use crate::time::Ts;

/// Writes the packets of one sequence.
pub(super) struct PacketWriter<'t, 'o> {
    out: &'o mut dyn io::Write,
    /// Texts by the field of `InternedData` and their numbers there.
    ids: FxHashMap<(u32, &'t str), u64>,
    /// Texts that no packet has given so far.
    new_texts: WireMessage,
    /// Time that is taken off all times, so that none is below zero.
    shift_ns: i64,
    is_first: bool,
    buffer: WireMessage,
}

/// The one sequence of a file.
const SEQUENCE: u64 = 1;
/// Texts of earlier sequences no longer hold; or the packet refers to earlier ones.
const CLEARED: u64 = 1;
const NEEDS_EARLIER: u64 = 2;

impl<'t, 'o> PacketWriter<'t, 'o> {
    pub(super) fn new(out: &'o mut dyn io::Write, shift_ns: i64) -> Self {
        let (ids, new_texts, buffer) = (FxHashMap::default(), WireMessage::default(), WireMessage::default());
        Self { out, ids, new_texts, shift_ns, is_first: true, buffer }
    }

    /// The number of a text among those of a field.
    pub(super) fn id(&mut self, field: u32, text: &'t str) -> u64 {
        let next = self.ids.len() as u64 + 1;
        let new_texts = &mut self.new_texts;
        *self.ids.entry((field, text)).or_insert_with(|| {
            new_texts.message(field, |entry| {
                entry.number(1, next);
                entry.text(2, text.as_bytes());
            });
            next
        })
    }

    /// Gives a text a number of its own choice, with further fields.
    pub(super) fn describe(&mut self, field: u32, fill: impl FnOnce(&mut WireMessage)) {
        self.new_texts.message(field, fill);
    }

    /// Time as packets have it.
    pub(super) fn timestamp(&self, time: Ts) -> u64 {
        u64::try_from(time.0.saturating_sub(self.shift_ns)).unwrap_or(0)
    }

    /// Writes a packet with this content.
    pub(super) fn packet(
        &mut self,
        time: Option<Ts>,
        field: u32,
        fill: impl FnOnce(&mut Self, &mut WireMessage),
    ) -> io::Result<()> {
        let mut content = WireMessage::default();
        fill(self, &mut content);
        self.buffer.0.clear();
        if let Some(time) = time {
            let timestamp = self.timestamp(time);
            self.buffer.number(packet::TIMESTAMP, timestamp);
        }
        self.buffer.number(packet::SEQUENCE, SEQUENCE);
        let flags = if std::mem::take(&mut self.is_first) { CLEARED } else { NEEDS_EARLIER };
        self.buffer.number(packet::FLAGS, flags);
        if !self.new_texts.0.is_empty() {
            self.buffer.text(packet::INTERNED, &self.new_texts.0);
            self.new_texts.0.clear();
        }
        self.buffer.text(field, &content.0);
        let mut whole = WireMessage::default();
        whole.text(u32::from(PACKET_TAG >> 3), &self.buffer.0);
        self.out.write_all(&whole.0)
    }
}
