//! Writes the work of devices as stages of rendering, one queue for each stream.

use std::io;

use rustc_hash::FxHashMap;

use super::annotations::stage_text;
use super::flows::SliceFlows;
use super::message::WireMessage;
use super::packets::PacketWriter;
use super::tracks::number_of;
use crate::id::{StrId, TrackId};
use crate::perfetto::{RECORDED_STREAM, interned, packet, stage};
use crate::trace::Trace;
use crate::trace::kind::category_kind;

/// Kinds of stages: others, and those that compute.
const COMPUTE: u64 = 2;
/// Queues and stages share their numbers: stages from here on.
const FIRST_STAGE: u64 = 1 << 32;
/// Names of stages by Kineto's categories, as `PyTorch` writes them.
const STAGES: [(&str, &str); 6] = [
    ("kernel", "Kernel"),
    ("gpu_memcpy", "Memcpy"),
    ("gpu_memset", "Memset"),
    ("gpu_user_annotation", "Annotation"),
    ("graph_event_node", "EventRecord"),
    ("graph_host_node", "HostNode"),
];
/// Keys that stages have under another name.
const WORDS: [(&str, &str); 3] = [("device", "device id"), ("context", "context id"), ("stream", "stream id")];
/// Keys that are part of a launch.
const OF_LAUNCH: [&str; 3] = ["grid", "block", "registers per thread"];

/// Device and stream of a track, if it can be a queue: both have numbers that Perfetto takes.
pub(super) fn stream_numbers(trace: &Trace, track: TrackId) -> Option<(u32, i64)> {
    let place = trace.track(track);
    let text = |id: StrId| trace.strings.text(id);
    let device = number_of::<i32>(text(place.process)).and_then(|device| u32::try_from(device).ok())?;
    place.stream.and(number_of::<i64>(text(place.thread))).map(|stream| (device, stream))
}

/// Whether the rows of a track become stages: by their categories alone they are work of a device.
pub(super) fn are_stages(trace: &Trace, track: TrackId, rows: &[usize]) -> bool {
    let is_work = |row: &usize| category_kind(trace.strings.text(trace.events.category.at(*row))).1;
    stream_numbers(trace, track).is_some() && rows.iter().all(is_work)
}

/// Writes stages, and describes their queues.
pub(super) struct StageWriter<'t> {
    trace: &'t Trace,
    stages: FxHashMap<StrId, u64>,
    queues: FxHashMap<TrackId, u64>,
    /// Digits that the number of a stream has, so that the order of names is that of numbers.
    width: usize,
}

impl<'t> StageWriter<'t> {
    pub(super) fn new(trace: &'t Trace) -> Self {
        let streams = (0..trace.tracks.len()).filter_map(|at| stream_numbers(trace, TrackId(at as u32)));
        let width = streams.map(|(_, stream)| stream.to_string().len()).max().unwrap_or(1);
        Self { trace, stages: FxHashMap::default(), queues: FxHashMap::default(), width }
    }

    /// Writes a row of a stream.
    pub(super) fn write(
        &mut self,
        packets: &mut PacketWriter<'t, '_>,
        row: usize,
        flows: &SliceFlows,
    ) -> io::Result<()> {
        let (trace, events) = (self.trace, &self.trace.events);
        let Some((device, stream)) = stream_numbers(trace, events.track.at(row)) else { return Ok(()) };
        let queue = self.queue(packets, events.track.at(row), stream);
        let stage_id = self.stage(packets, events.category.at(row));
        let name = packets.id(interned::EVENT, trace.event_name(row));
        packets.packet(Some(events.start.at(row)), packet::RENDER_STAGE, |packets, message| {
            message.number(stage::ID, event_id(row));
            let dur = events.impossible_dur(row).unwrap_or(events.dur.at(row));
            message.signed(stage::DURATION, dur.0.max(0));
            message.number(stage::GPU, u64::from(device));
            message.number(stage::QUEUE_IID, queue);
            message.number(stage::STAGE_IID, stage_id);
            message.number(stage::NAME_IID, name);
            for earlier in flows.waits.get(&row).into_iter().flatten() {
                message.number(stage::WAITS_FOR, event_id(*earlier));
            }
            self.write_args(packets, (row, stream), message);
        })
    }

    fn write_args(&self, packets: &mut PacketWriter<'t, '_>, (row, stream): (usize, i64), message: &mut WireMessage) {
        let (trace, args) = (self.trace, self.trace.events.args(row));
        let pairs: Vec<_> = trace.args.pairs(&trace.strings, args).collect();
        let launch = Launch::of(&pairs);
        for (key, json) in &pairs {
            if launch.is_some() && OF_LAUNCH.contains(key) {
                continue;
            }
            let word = match *key {
                // Perfetto wants its row as the stream.
                "stream" if number_of(json) != Some(stream) => RECORDED_STREAM,
                key => WORDS.iter().find(|(own, _)| *own == key).map_or(key, |(_, word)| *word),
            };
            message.message(stage::EXTRA, |extra| {
                extra.text(1, word.as_bytes());
                extra.text(2, stage_text(json).as_bytes());
            });
        }
        if let Some(launch) = launch {
            let registers = packets.id(interned::ARGUMENT, "registers_per_thread");
            message.message(stage::LAUNCH, |message| launch.write(message, registers));
        }
    }

    /// The number of a stream's queue, described when it comes first.
    fn queue(&mut self, packets: &mut PacketWriter<'t, '_>, track: TrackId, stream: i64) -> u64 {
        let next = self.queues.len() as u64 + 1;
        let name = self.trace.strings.text(self.trace.track(track).name);
        let width = self.width;
        *self.queues.entry(track).or_insert_with(|| {
            packets.describe(interned::QUEUE_OR_STAGE, |queue| {
                queue.number(1, next);
                queue.text(2, format!("[{stream:0width$}] {name}").trim_end().as_bytes());
            });
            next
        })
    }

    /// The number of a category's stage. A category that is not Kineto's is its own name.
    fn stage(&mut self, packets: &mut PacketWriter<'t, '_>, category: StrId) -> u64 {
        let next = FIRST_STAGE + self.stages.len() as u64;
        let category_name = self.trace.strings.text(category);
        *self.stages.entry(category).or_insert_with(|| {
            let name = STAGES.iter().find(|(own, _)| *own == category_name).map_or(category_name, |(_, name)| *name);
            packets.describe(interned::QUEUE_OR_STAGE, |stage| {
                stage.number(1, next);
                stage.text(2, name.as_bytes());
                stage.number(4, if name == STAGES[0].1 { COMPUTE } else { 0 });
            });
            next
        })
    }
}

/// The number of an event's stage.
pub(super) fn event_id(row: usize) -> u64 {
    row as u64 + 1
}

/// The shape of a launch, where all of it can be read again from its message.
struct Launch {
    grid: [u32; 3],
    block: [u32; 3],
    registers: Option<u32>,
}

impl Launch {
    fn of(pairs: &[(&str, String)]) -> Option<Self> {
        let json = |key: &str| pairs.iter().find(|(own, _)| *own == key).map(|(_, json)| json.as_str());
        let shape = |key| serde_json::from_str::<[u32; 3]>(json(key)?).ok();
        let registers = json("registers per thread").map(number_of::<u32>);
        if registers == Some(None) {
            return None;
        }
        Some(Self { grid: shape("grid")?, block: shape("block")?, registers: registers.flatten() })
    }

    fn write(&self, message: &mut WireMessage, registers: u64) {
        for (field, shape) in [(1, self.grid), (2, self.block)] {
            message.message(field, |sides| {
                for (side, field) in shape.into_iter().zip(1..) {
                    sides.number(field, u64::from(side));
                }
            });
        }
        if let Some(number) = self.registers {
            message.message(3, |argument| {
                argument.number(1, registers);
                argument.number(4, u64::from(number));
            });
        }
    }
}
