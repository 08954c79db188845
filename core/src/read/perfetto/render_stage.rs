//! Stages of rendering by their fields.

use super::packet_key::PacketKey;
use super::part::PacketPart;
use crate::perfetto::stage;
use crate::read::wire::{WireFields, WireValue};
use crate::trace::decimal::Decimal;

/// A stage of rendering by its fields. Repeated ones stay where they are.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RenderStage {
    pub(super) id: u64,
    pub(super) dur: u64,
    pub(super) device: i64,
    pub(super) queue: u64,
    pub(super) queue_iid: Option<u64>,
    pub(super) stage: u64,
    pub(super) stage_iid: u64,
    pub(super) name: Option<PacketPart>,
    pub(super) name_iid: u64,
    pub(super) kernel_iid: u64,
    pub(super) launch: Option<PacketPart>,
    pub(super) specifications: Option<PacketPart>,
    pub(super) has_waits: bool,
    /// Whether it tells its stream, and the one that it tells, if it is a number.
    pub(super) tells_stream: bool,
    pub(super) told_stream: Option<i64>,
}

impl RenderStage {
    /// Splits a message of a packet. Its arguments go to the key.
    pub(super) fn new(bytes: &[u8], message: &[u8], key: &mut PacketKey, is_told: IsTold<'_>) -> Self {
        let mut found = Self::default();
        let part = |part| Some(PacketPart::within(bytes, part));
        WireFields::new(message).each(|field, value| match (field, value) {
            (stage::ID, WireValue::Number(id)) => found.id = id,
            (stage::DURATION, WireValue::Number(dur)) => found.dur = dur,
            (stage::GPU, WireValue::Number(device)) => found.device = device as i64,
            (stage::QUEUE, WireValue::Number(at)) => found.queue = at,
            (stage::QUEUE_IID, WireValue::Number(iid)) => found.queue_iid = Some(iid),
            (stage::STAGE, WireValue::Number(at)) => found.stage = at,
            (stage::STAGE_IID, WireValue::Number(iid)) => found.stage_iid = iid,
            (stage::NAME, WireValue::Bytes(name)) => found.name = part(name),
            (stage::NAME_IID, WireValue::Number(iid)) => found.name_iid = iid,
            (stage::KERNEL_IID, WireValue::Number(iid)) => found.kernel_iid = iid,
            (stage::LAUNCH, WireValue::Bytes(launch)) => found.launch = part(launch),
            (stage::SPECIFICATIONS, WireValue::Bytes(specifications)) => found.specifications = part(specifications),
            (stage::WAITS_FOR, _) => found.has_waits = true,
            (stage::EXTRA, WireValue::Bytes(extra)) => {
                let (name, text) = named_text(extra);
                if name == STREAM {
                    found.told_stream = whole(text).filter(|_| !found.tells_stream);
                    found.tells_stream = true;
                }
                write_argument(key, (name, text), found.told_stream);
            }
            _ => {}
        });
        write_launch_key(key, found.launch.map(|part| part.of(bytes)), is_told);
        found
    }
}

/// The stream of work, beside its row.
pub(super) const STREAM: &[u8] = b"stream id";

/// Name and text of an argument beside the launch.
pub(super) fn named_text(extra: &[u8]) -> (&[u8], &[u8]) {
    let mut found: [Option<&[u8]>; 2] = [None; 2];
    for (field, value) in WireFields::new(extra) {
        if let (1 | 2, WireValue::Bytes(text)) = (field, value) {
            found[field as usize - 1].get_or_insert(text);
        }
    }
    (found[0].unwrap_or_default(), found[1].unwrap_or_default())
}

/// The whole number that a text is.
pub(super) fn whole(text: &[u8]) -> Option<i64> {
    Decimal::parse(text).filter(|number| number.scale == 0).map(|number| number.mantissa)
}

/// Whether the block tells an argument of a launch.
pub(super) type IsTold<'t> = &'t dyn Fn(&[u8]) -> bool;

/// Adds an argument beside the launch to a key: its name and its text.
pub(super) fn write_argument(key: &mut PacketKey, (name, text): (&[u8], &[u8]), stream: Option<i64>) {
    if name == STREAM {
        key.slot(STREAM, Decimal { mantissa: stream.unwrap_or_default(), scale: 0 });
        if whole(text) == stream {
            return;
        }
    }
    key.named_text(name, text);
}

/// Adds a launch to a key.
pub(super) fn write_launch_key(key: &mut PacketKey, launch: Option<&[u8]>, is_told: IsTold<'_>) {
    for (field, value) in launch.into_iter().flat_map(WireFields::new) {
        match value {
            WireValue::Bytes(argument) if field == 3 && !is_told(argument) => key.launch_argument(argument),
            WireValue::Bytes(part) => key.text(part),
            WireValue::Number(number) => key.number(Some(number)),
        }
    }
}
