//! Track events by their fields.

use super::counter_value::CounterValue;
use super::packet_key::PacketKey;
use super::part::PacketPart;
use crate::perfetto::{legacy, track_event};
use crate::read::wire::{WireFields, WireValue, numbers_of};

/// The phases of Chrome's format that track events have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TrackPhase {
    Begin,
    End,
    Instant,
    Counter,
    /// A whole slice, of this length in microseconds.
    Complete(i64),
}

/// A track event by its fields. Repeated ones stay where they are.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TrackEvent {
    kind: u8,
    pub(super) track: Option<u64>,
    pub(super) name: Option<PacketPart>,
    pub(super) category_iid: Option<u64>,
    pub(super) category: Option<PacketPart>,
    pub(super) name_iid: Option<u64>,
    absolute_us: Option<u64>,
    pub(super) counter: Option<CounterValue>,
    /// Fields of Chrome's older format.
    pub(super) legacy: Option<PacketPart>,
    pub(super) num_annotations: u32,
    pub(super) num_launched: u32,
    pub(super) has_flows: bool,
    pub(super) has_extra: bool,
}

impl TrackEvent {
    /// Splits a message of a packet. Its annotations go to the key.
    pub(super) fn new(bytes: &[u8], message: &[u8], key: &mut PacketKey) -> Self {
        let mut event = Self::default();
        let part = |part| Some(PacketPart::within(bytes, part));
        WireFields::new(message).each(|field, value| match (field, value) {
            (track_event::TYPE, WireValue::Number(kind)) => event.kind = u8::try_from(kind).unwrap_or(u8::MAX),
            (track_event::TRACK, WireValue::Number(uuid)) => event.track = Some(uuid),
            (track_event::NAME, WireValue::Bytes(name)) => event.name = part(name),
            (track_event::NAME_IID, WireValue::Number(iid)) => event.name_iid = Some(iid),
            (track_event::CATEGORY_IID, WireValue::Number(iid)) => {
                event.category_iid = event.category_iid.or(Some(iid));
            }
            (track_event::CATEGORY_IID, value) => {
                numbers_of(value, false, |iid| event.category_iid = event.category_iid.or(Some(iid)));
            }
            (track_event::CATEGORY, WireValue::Bytes(name)) => event.category = event.category.or(part(name)),
            (track_event::ANNOTATION, WireValue::Bytes(annotation)) => {
                event.num_annotations += 1;
                key.annotation(annotation);
            }
            (track_event::LAUNCHED, _) => event.num_launched += 1,
            (track_event::ABSOLUTE_US, WireValue::Number(time)) => event.absolute_us = Some(time),
            (track_event::COUNTER_VALUE, WireValue::Number(number)) => {
                event.counter = Some(CounterValue::Integer(number as i64));
            }
            (track_event::DOUBLE_COUNTER_VALUE, WireValue::Number(bits)) => {
                event.counter = Some(CounterValue::Double(f64::from_bits(bits)));
            }
            (track_event::EXTRA_TRACKS | track_event::EXTRA_DOUBLE_TRACKS, _) => event.has_extra = true,
            (track_event::LEGACY, WireValue::Bytes(legacy)) => event.legacy = part(legacy),
            (track_event::FLOW | track_event::LAST_FLOW | track_event::OLD_FLOW | track_event::OLD_LAST_FLOW, _) => {
                event.has_flows = true;
            }
            _ => {}
        });
        event
    }

    /// The phase, with the older fields.
    pub(super) fn phase(&self, legacy: &LegacyEvent) -> Option<TrackPhase> {
        let letter = legacy.phase.and_then(|phase| u8::try_from(phase).ok());
        Some(match (self.kind, letter) {
            (1, _) | (0, Some(b'B')) => TrackPhase::Begin,
            (2, _) | (0, Some(b'E')) => TrackPhase::End,
            (3, _) | (0, Some(b'I' | b'i' | b'R' | b'n')) => TrackPhase::Instant,
            (4, _) => TrackPhase::Counter,
            (0, Some(b'X')) => TrackPhase::Complete(i64::try_from(legacy.duration_us.unwrap_or(0)).ok()?),
            _ => return None,
        })
    }

    /// The time, where it has one of its own.
    pub(super) fn time(&self) -> Option<i64> {
        i64::try_from(self.absolute_us?).ok()?.checked_mul(1000)
    }
}

/// Fields of Chrome's older format.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LegacyEvent {
    phase: Option<u64>,
    pub(super) name_iid: Option<u64>,
    duration_us: Option<u64>,
    pub(super) scope: Option<&'static str>,
}

impl LegacyEvent {
    /// Splits a message.
    pub(super) fn new(message: &[u8]) -> Self {
        let mut event = Self::default();
        for (field, value) in WireFields::new(message) {
            match field {
                legacy::NAME_IID => event.name_iid = value.number(),
                legacy::PHASE => event.phase = value.number(),
                legacy::DURATION_US => event.duration_us = value.number(),
                legacy::SCOPE => {
                    let at = value.number().and_then(|scope| usize::try_from(scope.checked_sub(1)?).ok());
                    event.scope = at.and_then(|at| legacy::SCOPES.get(at)).copied();
                }
                _ => {}
            }
        }
        event
    }
}

impl TrackPhase {
    /// The phase of its element. Slices that begin are whole ones, until their end is known.
    pub(super) fn letter(self) -> &'static [u8; 1] {
        match self {
            Self::Begin | Self::Complete(_) => b"X",
            Self::End => b"E",
            Self::Instant => b"i",
            Self::Counter => b"C",
        }
    }
}
