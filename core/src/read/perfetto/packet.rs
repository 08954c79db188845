//! A packet by its fields.

use crate::perfetto::packet;
use crate::read::wire::{WireFields, WireValue, bytes_in, number_in, varint};

/// A packet: when and where it comes from, and its content.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PerfettoPacket<'p> {
    pub(super) timestamp: Option<u64>,
    pub(super) clock: Option<u64>,
    /// The writer (`trusted_packet_sequence_id`).
    pub(super) sequence: u64,
    /// Whether texts and defaults of earlier packets no longer hold.
    pub(super) is_cleared: bool,
    /// Whether it refers to texts or defaults of earlier packets.
    pub(super) needs_earlier: bool,
    pub(super) interned: Option<&'p [u8]>,
    pub(super) defaults: Option<&'p [u8]>,
    /// Number and bytes of its content.
    pub(super) content: Option<(u32, &'p [u8])>,
    /// Whether something of it, or packets before it, were lost.
    pub(super) is_lossy: bool,
}

impl<'p> PerfettoPacket<'p> {
    pub(super) fn new(bytes: &'p [u8]) -> Self {
        let mut found = Self::default();
        let mut fields = WireFields::new(bytes);
        fields.each(|field, value| match (field, value) {
            (packet::TIMESTAMP, WireValue::Number(number)) => found.timestamp = Some(number),
            (packet::CLOCK, WireValue::Number(number)) => found.clock = Some(number),
            (packet::SEQUENCE, WireValue::Number(number)) => found.sequence = number,
            (packet::FLAGS, WireValue::Number(flags)) => {
                found.is_cleared |= flags & 1 != 0;
                found.needs_earlier |= flags & 2 != 0;
            }
            (packet::CLEARED, WireValue::Number(number)) => found.is_cleared |= number != 0,
            (packet::DROPPED, WireValue::Number(number)) => found.is_lossy |= number != 0,
            (packet::INTERNED, WireValue::Bytes(bytes)) => found.interned = Some(bytes),
            (packet::DEFAULTS, WireValue::Bytes(bytes)) => found.defaults = Some(bytes),
            (_, WireValue::Bytes(bytes)) if !packet::ABOUT.contains(&field) => found.content = Some((field, bytes)),
            _ => {}
        });
        found.is_lossy |= fields.is_damaged;
        found
    }
}

/// The name of a content that is not read.
pub(super) fn content_name(field: u32) -> String {
    let name = packet::NAMES.iter().find(|(number, _)| *number == field);
    name.map_or_else(|| format!("field {field}"), |(_, name)| String::from(*name))
}

/// The numbers of a repeated field, each alone or all in one text.
pub(super) fn numbers_of(value: WireValue<'_>, is_fixed: bool, mut take: impl FnMut(u64)) {
    match value {
        WireValue::Number(number) => take(number),
        WireValue::Bytes(bytes) if is_fixed => {
            bytes.as_chunks::<8>().0.iter().for_each(|bits| take(u64::from_le_bytes(*bits)));
        }
        WireValue::Bytes(mut bytes) => {
            while let Some((number, rest)) = varint(bytes) {
                take(number);
                bytes = rest;
            }
        }
    }
}

/// The default track and clock in `TracePacketDefaults`.
pub(super) fn defaults_of(message: &[u8]) -> (Option<u64>, Option<u64>) {
    let events = bytes_in(message, packet::TRACK_EVENT);
    (events.and_then(|events| number_in(events, packet::TRACK_EVENT)), number_in(message, packet::CLOCK))
}
