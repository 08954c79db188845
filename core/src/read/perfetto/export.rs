//! Streams a trace of Perfetto as the text of a Kineto trace.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::clock::PerfettoClocks;
use super::counter::write_device_counters;
use super::intern::PerfettoSequence;
use super::packet::{PerfettoPacket, content_name};
use super::packets::PerfettoPackets;
use super::slice::write_track_event;
use super::stage::write_stage;
use super::target::PerfettoTarget;
use crate::error::Position;
use crate::json;
use crate::perfetto::{FLOW_NAMES, packet};
use crate::read::exported::ExportedText;
use crate::read::input::{Limits, ReadProgress};
use crate::read::json_object::{JsonObject, object, push_integer, push_text};
use crate::read::text_window::TextWindow;
use crate::read::wire::{WireFields, WireValue, bytes_in};
use crate::warning::{WarningKind, Warnings};

/// Text made at a time, unless a packet makes more.
const CHUNK_BYTES: usize = 1 << 18;

/// A trace of Perfetto that is being read.
pub(super) struct PerfettoExport<'a> {
    packets: PerfettoPackets<'a>,
    state: PerfettoState,
    watch: Option<ReadProgress<'a>>,
    file: Option<Arc<str>>,
    place: PerfettoPlace,
}

/// All that the packets so far have left.
#[derive(Default)]
struct PerfettoState {
    sequences: FxHashMap<u64, PerfettoSequence>,
    clocks: PerfettoClocks,
    target: PerfettoTarget,
    /// Keys of the header, with their values.
    header: Vec<(Vec<u8>, Vec<u8>)>,
    /// How many packets have content that is not read, by its number.
    unread: BTreeMap<u32, u64>,
    warnings: Warnings,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PerfettoPlace {
    Start,
    Packets,
    End,
}

impl<'a> PerfettoExport<'a> {
    pub(super) fn new(
        window: TextWindow<'a>,
        name: Option<&str>,
        watch: Option<ReadProgress<'a>>,
        limits: Limits,
    ) -> Self {
        Self {
            packets: PerfettoPackets::new(window, limits.max_bytes),
            state: PerfettoState::default(),
            watch,
            file: name.map(Arc::from),
            place: PerfettoPlace::Start,
        }
    }

    /// Reads some packets; false at the end of the file.
    fn read_packets(&mut self) -> io::Result<bool> {
        while self.state.target.events.out.len() < CHUNK_BYTES {
            let byte = self.packets.offset();
            let Some(bytes) = self.packets.next().map_err(io::Error::other)? else { return Ok(false) };
            let packet = PerfettoPacket::new(bytes);
            let fault = match packet.content {
                Some((packet::COMPRESSED, compressed)) => {
                    let compressed = compressed.to_vec();
                    (!self.packets.unpack(&compressed)).then_some(WarningKind::DamagedCompression)
                }
                _ => self.state.take(&packet),
            };
            if let Some(fault) = fault {
                let position = Position { file: self.file.clone(), byte: Some(byte), ..Position::default() };
                self.state.warnings.push(fault, || position);
            }
        }
        Ok(true)
    }

    fn write_end(&mut self) {
        let Self { packets, state, .. } = self;
        state.target.lanes.write(&mut state.target.events);
        state.target.arrows.write(&mut state.target.tracks, &mut state.target.events);
        let ends = [(packets.is_cut, WarningKind::Truncated), (packets.is_damaged(), WarningKind::DamagedCompression)];
        for (_, kind) in ends.into_iter().filter(|(is_so, _)| *is_so) {
            let position = Position { file: self.file.clone(), byte: Some(packets.offset()), ..Position::default() };
            state.warnings.push(kind, || position);
        }
        let mut out = Vec::new();
        object(&mut out, |header| state.write_header(header));
        // The keys of the object that holds the events.
        state.target.events.out.extend_from_slice(b"\n],\n");
        state.target.events.out.extend_from_slice(&out[1..]);
    }
}

impl PerfettoState {
    /// Takes a packet. A fault if something of it is lost.
    fn take(&mut self, packet: &PerfettoPacket<'_>) -> Option<WarningKind> {
        let sequence = self.sequences.entry(packet.sequence).or_default();
        if packet.is_cleared {
            sequence.clear();
        }
        if let Some(defaults) = packet.defaults {
            sequence.set_defaults(defaults);
        }
        if let Some(interned) = packet.interned {
            sequence.intern(interned);
        }
        let mut fault = packet.is_lossy.then_some(WarningKind::LostPacket);
        let Some((field, content)) = packet.content else { return fault };
        match field {
            packet::CLOCK_SNAPSHOT => self.clocks.snapshot(packet.sequence, content),
            packet::TRACK => self.target.tracks.describe(content, &mut self.target.events),
            packet::CHROME_EVENTS => self.take_metadata(content),
            packet::TRACK_EVENT | packet::RENDER_STAGE | packet::GPU_COUNTER => {
                let is_known = sequence.is_complete || !packet.needs_earlier;
                let clock = packet.clock.or(sequence.clock);
                let time = packet.timestamp.and_then(|time| self.clocks.time(packet.sequence, clock, time));
                let (target, is_event) = (&mut self.target, field == packet::TRACK_EVENT);
                let is_read = match time {
                    _ if !is_known => false,
                    time if is_event => write_track_event(target, sequence, time, content),
                    Some(time) if field == packet::RENDER_STAGE => {
                        write_stage(target, sequence, time, content);
                        true
                    }
                    Some(time) => write_device_counters(target, sequence, time, content),
                    None => false,
                };
                if !is_read {
                    fault = Some(WarningKind::LostPacket);
                }
            }
            _ => *self.unread.entry(field).or_default() += 1,
        }
        fault
    }

    /// Takes the header of a recording in Chrome's format.
    fn take_metadata(&mut self, message: &[u8]) {
        for (field, value) in WireFields::new(message) {
            let (2, WireValue::Bytes(entry)) = (field, value) else { continue };
            let mut json = Vec::new();
            for (field, value) in WireFields::new(entry) {
                match (field, value) {
                    (2, WireValue::Bytes(text)) => push_text(&mut json, text),
                    (3, WireValue::Number(number)) => {
                        json.extend_from_slice(if number == 0 { b"false" } else { b"true" });
                    }
                    (4, WireValue::Number(number)) => push_integer(&mut json, number as i64),
                    (5, WireValue::Bytes(raw)) => json.extend_from_slice(json::canonical(raw).text.as_bytes()),
                    _ => continue,
                }
                break;
            }
            let key = bytes_in(entry, 1).unwrap_or_default();
            if key == FLOW_NAMES.as_bytes() && self.target.flows.name(&json) {
                continue;
            }
            let is_new = !RESERVED.contains(&key) && self.header.iter().all(|(known, _)| known != key);
            if is_new && !json.is_empty() && self.header.len() < MAX_KEYS {
                self.header.push((key.to_vec(), json));
            }
        }
    }

    fn write_header(&self, header: &mut JsonObject<'_>) {
        for (key, value) in &self.header {
            header.field_of(key).extend_from_slice(value);
        }
        let has_base = self.header.iter().any(|(key, _)| key == BASE);
        if let Some(base_ns) = self.clocks.base_ns.filter(|base_ns| *base_ns > 0 && !has_base) {
            push_integer(header.field_of(BASE), base_ns);
        }
        if !self.unread.is_empty() {
            header.object("perfetto_unread", |counts| {
                for (field, count) in &self.unread {
                    counts.integer(&content_name(*field), i64::try_from(*count).unwrap_or(i64::MAX));
                }
            });
        }
    }
}

/// The key of the header with the time at which the clock of the events starts.
const BASE: &[u8] = b"baseTimeNanoseconds";
/// Keys that the text has already.
const RESERVED: [&[u8]; 2] = [b"traceEvents", b"nodes"];
/// So many keys a header may have.
const MAX_KEYS: usize = 1000;

impl ExportedText for PerfettoExport<'_> {
    fn advance(&mut self) -> io::Result<bool> {
        self.state.target.events.out.clear();
        match self.place {
            PerfettoPlace::Start => {
                self.state.target.events.out.extend_from_slice(b"{\"traceEvents\":[\n");
                self.place = PerfettoPlace::Packets;
            }
            PerfettoPlace::Packets => {
                if !self.read_packets()? {
                    self.write_end();
                    self.place = PerfettoPlace::End;
                }
            }
            PerfettoPlace::End => return Ok(false),
        }
        self.watch.as_mut().map_or(Ok(()), |watch| watch(0))?;
        Ok(true)
    }

    fn text(&self) -> &[u8] {
        &self.state.target.events.out
    }

    fn warnings(&self) -> &Warnings {
        &self.state.warnings
    }
}
