//! Counters: of programs as tracks, and of devices.

use std::sync::Arc;

use super::annotation::push_double;
use super::intern::{DeviceCounters, PerfettoSequence};
use super::target::PerfettoTarget;
use crate::read::json_object::{JsonObject, push_integer};
use crate::read::wire::{WireFields, WireValue, number_in, values_in};
use crate::time::Ts;

/// A value as it is recorded.
#[derive(Debug, Clone, Copy)]
pub(super) enum CounterValue {
    Integer(i64),
    Double(f64),
}

impl CounterValue {
    fn number(self) -> f64 {
        match self {
            Self::Integer(number) => number as f64,
            Self::Double(number) => number,
        }
    }

    /// The same value, unless it was scaled.
    fn push(self, scaled: f64, out: &mut Vec<u8>) {
        match self {
            Self::Integer(number) if scaled.to_bits() == self.number().to_bits() => push_integer(out, number),
            _ => push_double(out, scaled),
        }
    }
}

/// Writes a value of a track that is a counter.
pub(super) fn write_counter(target: &mut PerfettoTarget<'_>, track: u64, value: CounterValue, time: i64) {
    let (counter, scaled) = target.tracks.counter(track, value.number());
    target.events.element(|event| {
        event.text("ph", b"C");
        event.text("name", &counter.name);
        counter.place.write(event);
        event.plain_micros("ts", Ts(time));
        event.object("args", |args| value.push(scaled, args.field_of(&counter.series)));
    });
}

/// Writes the values in a `GpuCounterEvent`; false if one has no name or none has a value.
pub(super) fn write_device_counters(
    target: &mut PerfettoTarget<'_>,
    sequence: &mut PerfettoSequence,
    time: i64,
    message: &[u8],
) -> bool {
    let mut device = number_in(message, 3).map(|number| number as i64);
    let mut described = None;
    for (field, value) in WireFields::new(message) {
        match (field, value) {
            (1, WireValue::Bytes(descriptor)) => {
                sequence.counters = Some(Arc::new(DeviceCounters::new(device, descriptor)));
            }
            (4, WireValue::Number(iid)) => described = sequence.texts.counters.get(&iid).cloned(),
            _ => {}
        }
    }
    let described = described.or_else(|| sequence.counters.clone()).unwrap_or_default();
    device = device.or(described.device);
    let process = format!("GPU {} Counters", device.unwrap_or(0));
    let mut is_whole = true;
    for value in values_in(message, 2) {
        let Some((name, value)) = value.bytes().and_then(|counter| named_value(&described, counter)) else {
            is_whole = false;
            continue;
        };
        target.events.element(|event| {
            event.text("ph", b"C");
            event.text("name", name);
            event.text("pid", process.as_bytes());
            event.plain_micros("ts", Ts(time));
            event.object("args", |args| write_value(args, value));
        });
    }
    is_whole
}

fn write_value(args: &mut JsonObject<'_>, value: CounterValue) {
    value.push(value.number(), args.field(""));
}

fn named_value<'d>(described: &'d DeviceCounters, counter: &[u8]) -> Option<(&'d [u8], CounterValue)> {
    // Proto leaves out an id of 0.
    let name = described.names.get(&number_in(counter, 1).unwrap_or(0))?;
    let value = WireFields::new(counter).find_map(|(field, value)| match (field, value) {
        (2, WireValue::Number(number)) => Some(CounterValue::Integer(number as i64)),
        (3, WireValue::Number(bits)) => Some(CounterValue::Double(f64::from_bits(bits))),
        _ => None,
    })?;
    Some((name, value))
}
