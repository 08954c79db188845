//! Reads the packets of a trace one after the other.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::batch::{SplitPacket, each_batch};
use super::clock::PerfettoClocks;
use super::counter::write_device_counters;
use super::intern::PerfettoSequence;
use super::packet::{ContentFields, content_name};
use super::packets::PerfettoPackets;
use super::slice::write_track_event;
use super::stage::write_stage;
use super::stats::num_lost;
use super::target::PerfettoTarget;
use crate::error::{Error, Position, unreadable};
use crate::json;
use crate::perfetto::{FLOW_NAMES, packet};
use crate::read::builder::TraceBuilder;
use crate::read::input::{Limits, ReadProgress};
use crate::read::json_object::{JsonObject, object, push_integer, push_text};
use crate::read::recent_map::RecentMap;
use crate::read::text_window::TextWindow;
use crate::read::wire::{WireFields, WireValue, bytes_in};
use crate::warning::WarningKind;

/// Packets read before the one who waits is asked whether to go on.
const CHUNK_PACKETS: usize = 1 << 14;

/// A trace of Perfetto that is being read.
pub(super) struct PerfettoReader<'a, 'b> {
    packets: PerfettoPackets<'a>,
    state: PerfettoState<'b>,
    file: Option<Arc<str>>,
}

/// All that the packets so far have left.
struct PerfettoState<'b> {
    sequences: RecentMap<u64, PerfettoSequence>,
    clocks: PerfettoClocks,
    target: PerfettoTarget<'b>,
    /// Keys of the header, with their values.
    header: Vec<(Vec<u8>, Vec<u8>)>,
    /// How many packets have content that is not read, by its number.
    unread: BTreeMap<u32, u64>,
    /// How many packets the recorder says that it lost.
    num_lost: u64,
}

impl<'a, 'b> PerfettoReader<'a, 'b> {
    pub(super) fn new(
        window: TextWindow<'a>,
        file: Option<Arc<str>>,
        limits: Limits,
        builder: &'b mut TraceBuilder,
    ) -> Self {
        builder.file.clone_from(&file);
        let state = PerfettoState {
            sequences: RecentMap::default(),
            clocks: PerfettoClocks::default(),
            target: PerfettoTarget::new(builder),
            header: Vec::new(),
            unread: BTreeMap::new(),
            num_lost: 0,
        };
        Self { packets: PerfettoPackets::new(window, limits.max_bytes), state, file }
    }

    /// Reads all packets, on two threads if they may be made. The header, as JSON.
    pub(super) fn read(self, max_threads: usize, mut watch: Option<ReadProgress<'_>>) -> Result<Vec<u8>, Error> {
        let Self { mut packets, mut state, file } = self;
        let position = |byte| Position { file: file.clone(), byte, ..Position::default() };
        let mut num_unwatched = 0;
        each_batch(&mut packets, max_threads, |batch| {
            for split in batch.iter() {
                if let Some(fault) = split.fault.or_else(|| state.take(split)) {
                    state.warn(fault, 1, position(Some(split.offset)));
                }
            }
            num_unwatched += batch.len();
            match &mut watch {
                Some(watch) if num_unwatched >= CHUNK_PACKETS => {
                    num_unwatched = 0;
                    watch(0).map_err(unreadable)
                }
                _ => Ok(()),
            }
        })?;
        let end = || position(Some(packets.offset()));
        state.warn(WarningKind::Truncated, u64::from(packets.is_cut), end());
        state.warn(WarningKind::DamagedCompression, u64::from(packets.is_damaged()), end());
        state.warn(WarningKind::LostPacket, state.num_lost, position(None));
        Ok(state.finish())
    }
}

impl PerfettoState<'_> {
    /// Counts so many defects, of which one is at this position.
    fn warn(&mut self, kind: WarningKind, num: u64, position: Position) {
        self.target.rows.builder.trace.warnings.push_many(kind, num, || position);
    }

    /// Takes a packet. A fault if something of it is lost.
    fn take(&mut self, SplitPacket { packet, bytes, key, .. }: SplitPacket<'_>) -> Option<WarningKind> {
        let sequence = self.sequences.at(packet.sequence, || PerfettoSequence::new(packet.sequence));
        if packet.is_cleared {
            sequence.clear();
        }
        if let Some(defaults) = packet.defaults {
            sequence.set_defaults(defaults.of(bytes));
        }
        if let Some(interned) = packet.interned {
            sequence.intern(interned.of(bytes));
        }
        let mut fault = packet.is_lossy.then_some(WarningKind::LostPacket);
        let Some((field, content)) = packet.content else { return fault };
        let content = content.of(bytes);
        match field {
            packet::CLOCK_SNAPSHOT => self.clocks.snapshot(packet.sequence, content),
            packet::TRACK => self.target.tracks.describe(content, &mut self.target.events),
            packet::CHROME_EVENTS => self.take_metadata(content),
            // Later statistics include the earlier ones.
            packet::STATS => self.num_lost = self.num_lost.max(num_lost(content)),
            // Its packets come next.
            packet::COMPRESSED => {}
            packet::TRACK_EVENT | packet::RENDER_STAGE | packet::GPU_COUNTER => {
                let is_known = sequence.is_complete || !packet.needs_earlier;
                let clock = packet.clock.or(sequence.clock);
                let time = packet.timestamp.and_then(|time| self.clocks.time(packet.sequence, clock, time));
                let target = &mut self.target;
                target.key.set(key);
                let is_read = match (&packet.fields, time) {
                    _ if !is_known => false,
                    (ContentFields::Event(event), time) => {
                        write_track_event(target, sequence, time, event, [bytes, content])
                    }
                    (ContentFields::Stage(stage), Some(time)) => {
                        write_stage(target, sequence, time, stage, [bytes, content]);
                        true
                    }
                    (ContentFields::Other, Some(time)) => write_device_counters(target, sequence, time, content),
                    (_, None) => false,
                };
                if !is_read {
                    fault = Some(WarningKind::LostPacket);
                }
            }
            _ => {
                *self.unread.entry(field).or_default() += 1;
                if field == packet::ZSTD {
                    fault = Some(WarningKind::LostPacket);
                }
            }
        }
        self.target.flush();
        fault
    }

    /// Adds all that waited for the end, and gives the header.
    fn finish(mut self) -> Vec<u8> {
        let target = &mut self.target;
        for sequence in self.sequences.values_mut() {
            sequence.run.finish(|begin| target.rows.leave_open(begin));
        }
        target.lanes.write(&mut target.events);
        std::mem::take(&mut target.arrows).write(target);
        target.flush();
        let mut header = Vec::new();
        object(&mut header, |header| {
            header.field("traceEvents").extend_from_slice(b"[]");
            self.write_header(header);
        });
        header
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
