//! Writes stats as arguments.

use super::field::{metadata, stat};
use super::plane::PlaneIndex;
use crate::read::json_object::{JsonObject, push_integer, push_text};
use crate::read::wire::{WireFields, WireValue, all_bytes_in, number_in};

/// So many stats of an event, or of its metadata, are read.
const MAX_STATS: usize = 100;

/// The stat that names an iteration in place of its event.
const STEP_NAME: &[u8] = b"step_name";

/// Stats by the number of their name. Those of an event outweigh those of its metadata.
pub(super) struct EventStats<'p> {
    of_metadata: Vec<(i64, &'p [u8])>,
    of_event: Vec<(i64, &'p [u8])>,
}

impl<'p> EventStats<'p> {
    pub(super) fn new() -> Self {
        Self { of_metadata: Vec::new(), of_event: Vec::new() }
    }

    pub(super) fn clear(&mut self) {
        self.of_metadata.clear();
        self.of_event.clear();
    }

    /// Takes a stat of the event.
    pub(super) fn push(&mut self, message: &'p [u8]) {
        if self.of_event.len() < MAX_STATS {
            self.of_event.push((name_id(message), message));
        }
    }

    /// Takes the stats that all events with this metadata have.
    pub(super) fn take_shared(&mut self, metadata: &'p [u8]) {
        let shared = all_bytes_in(metadata, metadata::STAT).take(MAX_STATS);
        self.of_metadata.extend(shared.map(|message| (name_id(message), message)));
    }

    fn iter(&self) -> impl Iterator<Item = &(i64, &'p [u8])> {
        self.of_metadata.iter().chain(&self.of_event)
    }

    /// The name of the iteration, if this is one.
    pub(super) fn step_name(&self, plane: &PlaneIndex, bytes: &'p [u8]) -> Option<&'p [u8]> {
        let (_, message) = self.iter().find(|(id, _)| plane.stat_name(bytes, *id) == Some(STEP_NAME))?;
        text_of(message, plane, bytes)
    }

    pub(super) fn write(&self, args: &mut JsonObject<'_>, plane: &PlaneIndex, bytes: &[u8]) {
        let all: Vec<_> = self.iter().map(|(id, message)| (plane.stat_name(bytes, *id), *id, *message)).collect();
        for (at, (name, id, message)) in all.iter().enumerate() {
            // Some events have a stat twice; the last one counts.
            let is_last =
                all[at + 1..].iter().all(|(other, other_id, _)| other != name || name.is_none() && other_id != id);
            if is_last {
                write_stat(args, (*id, message), plane, bytes);
            }
        }
    }
}

fn name_id(message: &[u8]) -> i64 {
    number_in(message, stat::METADATA_ID).unwrap_or(0) as i64
}

/// The text of a stat that is one, or the name that it refers to.
pub(super) fn text_of<'p>(message: &'p [u8], plane: &PlaneIndex, bytes: &'p [u8]) -> Option<&'p [u8]> {
    WireFields::new(message).find_map(|field| match field {
        (stat::TEXT, WireValue::Bytes(text)) => Some(text),
        (stat::REFERENCE, WireValue::Number(id)) => plane.stat_name(bytes, id as i64),
        _ => None,
    })
}

/// The value of a stat that is a whole number.
pub(super) fn integer_of(message: &[u8]) -> Option<u64> {
    WireFields::new(message).find_map(|field| match field {
        (stat::UINT64 | stat::INT64, WireValue::Number(number)) => Some(number),
        _ => None,
    })
}

/// A stat of a plane, with its name.
pub(super) fn named<'p>(message: &[u8], plane: &PlaneIndex, bytes: &'p [u8]) -> &'p [u8] {
    plane.stat_name(bytes, name_id(message)).unwrap_or_default()
}

/// Writes a stat of a plane.
pub(super) fn write_own_stat(args: &mut JsonObject<'_>, message: &[u8], plane: &PlaneIndex, bytes: &[u8]) {
    write_stat(args, (name_id(message), message), plane, bytes);
}

/// Writes a stat; serialized and packed values are left out.
fn write_stat(args: &mut JsonObject<'_>, (id, message): (i64, &[u8]), plane: &PlaneIndex, bytes: &[u8]) {
    let unnamed = || format!("stat {id}").into_bytes();
    let key = || plane.stat_name(bytes, id).map_or_else(unnamed, <[u8]>::to_vec);
    if let Some(text) = text_of(message, plane, bytes) {
        return push_text(args.field_of(&key()), text);
    }
    for field in WireFields::new(message) {
        match field {
            (stat::DOUBLE, WireValue::Number(bits)) => {
                let (number, out) = (f64::from_bits(bits), args.field_of(&key()));
                let text = format!("{number:?}");
                // JSON has no infinity.
                if number.is_finite() {
                    out.extend_from_slice(text.as_bytes());
                } else {
                    push_text(out, text.as_bytes());
                }
            }
            (stat::UINT64, WireValue::Number(number)) => {
                args.field_of(&key()).extend_from_slice(number.to_string().as_bytes());
            }
            (stat::INT64, WireValue::Number(number)) => push_integer(args.field_of(&key()), number as i64),
            _ => continue,
        }
        return;
    }
}
