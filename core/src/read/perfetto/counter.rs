//! Counters: of programs as tracks, and of devices.

use std::sync::Arc;

use super::counter_value::CounterValue;
use super::intern::{DeviceCounters, PerfettoSequence};
use super::packet_key::PacketKey;
use super::target::PerfettoTarget;
use crate::read::element_shape::OwnValues;
use crate::read::wire::{WireFields, WireValue, number_in, values_in};
use crate::time::Ts;

/// Writes a value of a track that is a counter.
pub(super) fn write_counter(target: &mut PerfettoTarget<'_>, track: u64, value: CounterValue, time: i64) {
    let PerfettoTarget { tracks, rows, key, .. } = target;
    let value = value.scaled(tracks.counter_value(track, value.number()));
    let counter = tracks.counter(track);
    write_key(key, [&counter.name, &counter.series], value);
    let place = counter.place.key(rows.builder);
    target.put(Some(place), OwnValues::exact(time, 0), |event, tracks| {
        let counter = tracks.counter(track);
        event.text("ph", b"C");
        event.text("name", &counter.name);
        counter.place.write(event);
        event.plain_micros("ts", Ts(time));
        event.object("args", |args| value.push(args.field_of(&counter.series)));
    });
}

/// All of a counter but its place, and of its value all but the number.
fn write_key(key: &mut PacketKey, names: [&[u8]; 2], value: CounterValue) {
    key.clear();
    key.kind([b'C', u8::from(matches!(value, CounterValue::Double(_))), 0], 0, 0);
    names.into_iter().for_each(|name| key.text(name));
    match value {
        CounterValue::Integer(number) => key.integer(number),
        CounterValue::Double(number) => key.double(number),
    }
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
    let (device, rows) = (device.unwrap_or(0), &mut target.rows);
    let process = || format!("GPU {device} Counters").into_bytes();
    let place = *target.devices.at(device, || rows.builder.place_of(&process(), b""));
    let mut is_whole = true;
    for value in values_in(message, 2) {
        let Some((name, value)) = value.bytes().and_then(|counter| named_value(&described, counter)) else {
            is_whole = false;
            continue;
        };
        write_key(&mut target.key, [name, b""], value);
        target.put(Some(place), OwnValues::exact(time, 0), |event, _| {
            event.text("ph", b"C");
            event.text("name", name);
            event.text("pid", &process());
            event.plain_micros("ts", Ts(time));
            event.object("args", |args| value.push(args.field("")));
        });
    }
    is_whole
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
