//! A packet by its fields.

use super::packet_key::PacketKey;
use super::part::PacketPart;
use super::render_stage::RenderStage;
use super::thread_count::ThreadCounts;
use super::track_event::TrackEvent;
use crate::perfetto::packet;
use crate::read::wire::{WireFields, WireValue, bytes_in, number_in};

/// A packet by its fields: when and where it comes from, and its content. Texts and messages are
/// parts of its bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PerfettoPacket {
    pub(super) timestamp: Option<u64>,
    pub(super) clock: Option<u64>,
    /// The writer (`trusted_packet_sequence_id`).
    pub(super) sequence: u64,
    /// Whether texts and defaults of earlier packets no longer hold.
    pub(super) is_cleared: bool,
    /// Whether it refers to texts or defaults of earlier packets.
    pub(super) needs_earlier: bool,
    pub(super) interned: Option<PacketPart>,
    pub(super) defaults: Option<PacketPart>,
    /// Number and bytes of its content.
    pub(super) content: Option<(u32, PacketPart)>,
    pub(super) fields: ContentFields,
    /// Whether something of it, or packets before it, were lost.
    pub(super) is_lossy: bool,
}

/// The fields of contents that a file has millions of.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum ContentFields {
    Event(TrackEvent),
    Stage(RenderStage),
    /// Those of another content, which are not split yet.
    #[default]
    Other,
}

impl PerfettoPacket {
    /// Splits a packet. Annotations of a track event and arguments of a stage go to the key.
    pub(super) fn new(bytes: &[u8], key: &mut PacketKey, counts: &mut ThreadCounts) -> Self {
        let mut found = Self::default();
        let mut content = None;
        let part = |part| PacketPart::within(bytes, part);
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
            (packet::INTERNED, WireValue::Bytes(bytes)) => found.interned = Some(part(bytes)),
            (packet::DEFAULTS, WireValue::Bytes(bytes)) => found.defaults = Some(part(bytes)),
            (_, WireValue::Bytes(bytes)) if !packet::ABOUT.contains(&field) => content = Some((field, bytes)),
            _ => {}
        });
        found.is_lossy |= fields.is_damaged;
        let sequence = found.sequence;
        if found.is_cleared {
            counts.clear(sequence);
        }
        if let Some(interned) = found.interned {
            counts.intern(sequence, interned.of(bytes));
        }
        found.content = content.map(|(field, message)| (field, part(message)));
        found.fields = match content {
            Some((packet::TRACK_EVENT, message)) => ContentFields::Event(TrackEvent::new(bytes, message, key)),
            Some((packet::RENDER_STAGE, message)) => {
                let is_told = |argument: &[u8]| counts.has(sequence, argument);
                ContentFields::Stage(RenderStage::new(bytes, message, key, &is_told))
            }
            _ => ContentFields::Other,
        };
        found
    }
}

/// The name of a content that is not read.
pub(super) fn content_name(field: u32) -> String {
    let name = packet::NAMES.iter().find(|(number, _)| *number == field);
    name.map_or_else(|| format!("field {field}"), |(_, name)| String::from(*name))
}

/// The default track and clock in `TracePacketDefaults`.
pub(super) fn defaults_of(message: &[u8]) -> (Option<u64>, Option<u64>) {
    let events = bytes_in(message, packet::TRACK_EVENT);
    (events.and_then(|events| number_in(events, packet::TRACK_EVENT)), number_in(message, packet::CLOCK))
}
