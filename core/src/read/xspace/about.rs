//! Facts about a recording: its planes, devices, and remarks of the profiler.

use std::collections::BTreeMap;

use super::plane::PlaneIndex;
use super::span::PlaneSpan;
use super::stat::{integer_of, named, text_of, write_own_stat};
use crate::read::json_object::{JsonObject, object, push_integer, push_text};

/// So many planes have their facts in the header, and so many stats each.
const MAX_PLANES: usize = 1000;
const MAX_STATS: usize = 100;
/// So many errors, warnings or hosts are kept, and so many bytes of each.
const MAX_TEXTS: usize = 100;
const MAX_TEXT_BYTES: usize = 1 << 12;
/// A device with a higher number has no name: names are in a list, each at its device's place.
const MAX_DEVICE: usize = 1023;

/// The stat with the start of the recording, since 1970.
const START: &[u8] = b"profile_start_time";

/// The start of the name of a device's plane; the kind and the number follow.
const DEVICE: &[u8] = b"/device:";

/// Stats of devices that Kineto has under another name.
const PROPERTIES: [(&[u8], &str); 4] = [
    (b"compute_cap_major", "computeMajor"),
    (b"compute_cap_minor", "computeMinor"),
    (b"core_count", "numSms"),
    (b"memory_size", "totalGlobalMem"),
];
/// Stats with the name of a device.
const DEVICE_NAMES: [&[u8]; 2] = [b"gpu_device_name", b"device_type_string"];

/// Facts for the header.
#[derive(Debug, Default)]
pub(super) struct SpaceFacts {
    planes: Vec<Vec<u8>>,
    devices: BTreeMap<usize, Vec<u8>>,
    base_ns: Option<i64>,
    pub(super) errors: Vec<Vec<u8>>,
    pub(super) warnings: Vec<Vec<u8>>,
    pub(super) hosts: Vec<Vec<u8>>,
    /// Events without a time.
    pub(super) num_sums: u64,
}

/// Keeps the start of a text.
pub(super) fn keep(texts: &mut Vec<Vec<u8>>, text: &[u8]) {
    if texts.len() < MAX_TEXTS {
        texts.push(text[..text.len().min(MAX_TEXT_BYTES)].to_vec());
    }
}

impl SpaceFacts {
    pub(super) fn take_plane(&mut self, plane: &PlaneIndex, bytes: &[u8]) {
        let stats = || plane.own_stats.iter().take(MAX_STATS).map(|stat| stat.of(bytes));
        let start = stats().find(|stat| named(stat, plane, bytes) == START).and_then(integer_of);
        self.base_ns = self.base_ns.or(start.and_then(|start| i64::try_from(start).ok()));
        if let Some(number) = device_number(plane.name(bytes)) {
            self.take_device(number, plane, bytes);
        }
        if self.planes.len() < MAX_PLANES {
            let mut out = Vec::new();
            object(&mut out, |facts| {
                facts.text("name", plane.name(bytes));
                facts.integer("lines", plane.lines.len() as i64);
                facts.object("stats", |written| {
                    stats().for_each(|stat| write_own_stat(written, stat, plane, bytes));
                });
            });
            self.planes.push(out);
        }
    }

    fn take_device(&mut self, number: usize, plane: &PlaneIndex, bytes: &[u8]) {
        let stats = || plane.own_stats.iter().take(MAX_STATS).map(|stat: &PlaneSpan| stat.of(bytes));
        let is_name = |stat: &&[u8]| DEVICE_NAMES.contains(&named(stat, plane, bytes));
        let Some(name) = stats().find(is_name).and_then(|stat| text_of(stat, plane, bytes)) else { return };
        let mut out = Vec::new();
        object(&mut out, |device| {
            device.integer("id", number as i64);
            device.text("name", name);
            for (own, key) in PROPERTIES {
                let value = stats().find(|stat| named(stat, plane, bytes) == own).and_then(integer_of);
                if let Some(value) = value.and_then(|value| i64::try_from(value).ok()) {
                    device.integer(key, value);
                }
            }
        });
        self.devices.entry(number).or_insert(out);
    }

    pub(super) fn write(&mut self, header: &mut JsonObject<'_>, keeps_environment: bool) {
        let end = self.devices.last_key_value().map_or(0, |(number, _)| number + 1);
        if end > 0 {
            let unnamed = |number| format!("{{\"id\":{number},\"name\":\"\"}}").into_bytes();
            let devices = (0..end).map(|at| self.devices.remove(&at).unwrap_or_else(|| unnamed(at)));
            push_list(header.field("deviceProperties"), devices);
        }
        if let Some(base_ns) = self.base_ns {
            header.integer("baseTimeNanoseconds", base_ns);
        }
        // As Kineto writes its log.
        for (key, lines) in [("ERROR", &self.errors), ("WARNING", &self.warnings)] {
            if !lines.is_empty() {
                push_list(header.field(key), lines.iter().map(|line| quoted(&[key.as_bytes(), b": ", line].concat())));
            }
        }
        header.object("xspace", |about| {
            push_list(about.field("planes"), self.planes.drain(..));
            if keeps_environment && !self.hosts.is_empty() {
                push_list(about.field("hostnames"), self.hosts.iter().map(|host| quoted(host)));
            }
            if self.num_sums > 0 {
                push_integer(about.field("events_without_time"), i64::try_from(self.num_sums).unwrap_or(i64::MAX));
            }
        });
    }
}

/// 3 of `/device:GPU:3`.
fn device_number(name: &[u8]) -> Option<usize> {
    let (_, number) = std::str::from_utf8(name.strip_prefix(DEVICE)?).ok()?.split_once(':')?;
    number.parse().ok().filter(|number| *number <= MAX_DEVICE)
}

fn quoted(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    push_text(&mut out, text);
    out
}

fn push_list(out: &mut Vec<u8>, items: impl Iterator<Item = Vec<u8>>) {
    out.push(b'[');
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.extend_from_slice(&item);
    }
    out.push(b']');
}
