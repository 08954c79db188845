//! The snapshot: a trace's columns, small enough to travel inside a page.
//!
//! `MAGIC`, a version byte, then a zlib stream (which brings a checksum) of [`Columns`] in postcard's encoding. Only what was recorded is in
//! it; links are found again after loading. Times are differences to the event before on the same track, numbers of
//! arguments differences to the number before with the same key: most become small, and deflate does the rest.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Position};
use crate::id::{StrId, TrackId};
use crate::trace::Trace;
use crate::trace::args::{ArgsRef, Field, FieldValue};
use crate::trace::flow::{Counter, Flow, FlowId, FlowPhase, Instant, Metadata};
use crate::trace::node::Node;
use crate::trace::track::{Process, Track};
use crate::warning::{Warning, WarningKind};

/// First bytes of every snapshot.
pub const MAGIC: &[u8] = b"kscope\0";
/// The version written and read.
pub const VERSION: u8 = 2;

/// What a snapshot holds, in the order of its encoding.
#[derive(Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields of `Trace`, column by column")]
pub struct Columns {
    pub strings: Vec<String>,
    pub header: Vec<(StrId, StrId)>,
    pub execution_header: Vec<(StrId, StrId)>,
    pub has_coarse_times: bool,
    pub base_ns: i64,
    pub tracks: Vec<Track>,
    pub processes: Vec<Process>,
    pub templates: Vec<Vec<Field>>,
    pub events: EventColumns,
    pub instants: PointColumns,
    pub flows: PointColumns,
    pub flow_phases: Vec<FlowPhase>,
    pub flow_ids: Vec<i64>,
    pub flow_names: Vec<(u32, StrId)>,
    pub counters: PointColumns,
    pub counter_series: Vec<(StrId, f64)>,
    pub metadata: MetadataColumns,
    pub nodes: Vec<Node>,
    /// Numbers of arguments by key, as differences: events, instants, flows, counters, metadata.
    pub values: Vec<(StrId, Vec<i64>)>,
    pub warnings: Vec<SavedWarning>,
}

/// Columns of events.
#[derive(Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "as above")]
pub struct EventColumns {
    pub points: PointColumns,
    pub durs: Vec<i64>,
}

/// Columns of what has a place and a time.
#[derive(Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "as above")]
pub struct PointColumns {
    pub positions: Vec<u32>,
    pub names: Vec<StrId>,
    pub categories: Vec<StrId>,
    pub tracks: Vec<TrackId>,
    pub times: Vec<i64>,
    pub templates: Vec<u32>,
}

/// Columns of what a file says about its tracks.
#[derive(Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "as above")]
pub struct MetadataColumns {
    pub positions: Vec<u32>,
    pub names: Vec<StrId>,
    pub places: Vec<(StrId, StrId)>,
    pub times: Vec<Option<i64>>,
    pub templates: Vec<u32>,
}

/// A kind of defect with its first place.
#[derive(Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields of `Warning` and `Position`")]
pub struct SavedWarning {
    pub kind: WarningKind,
    pub count: u64,
    pub file: Option<String>,
    pub byte: Option<u64>,
    pub event: Option<u64>,
}

/// The trace as a snapshot.
///
/// # Errors
/// Never for a trace that was read; the encoder's own errors are passed on.
///
/// ```
/// use kinetoscope::{Input, Limits, read, write_snapshot, read::snapshot::read_snapshot};
/// let json = br#"[{"ph": "X", "name": "aten::add", "pid": 1, "tid": 2, "ts": 5.1, "dur": 2}]"#;
/// let trace = read([Input::new(json)], Limits::default())?;
/// let again = read_snapshot(&write_snapshot(&trace)?, Limits::default())?;
/// assert_eq!(again.events, trace.events);
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn write_snapshot(trace: &Trace) -> Result<Vec<u8>, Error> {
    let encode = || -> Result<Vec<u8>, Box<dyn std::error::Error>> {
        let columns = postcard::to_stdvec(&columns(trace))?;
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&columns)?;
        Ok(encoder.finish()?)
    };
    let body = encode().map_err(|error| ErrorKind::Malformed {
        expected: "a trace that can be encoded",
        found: error.to_string(),
        position: Position::default(),
    })?;
    Ok([MAGIC, &[VERSION], &body].concat())
}

fn columns(trace: &Trace) -> Columns {
    let strings = &trace.strings;
    Columns {
        strings: strings.iter().map(str::to_owned).collect(),
        header: trace.header.clone(),
        execution_header: trace.execution_header.clone(),
        has_coarse_times: trace.has_coarse_times,
        base_ns: trace.base_ns,
        tracks: trace.tracks.clone(),
        processes: trace.processes.clone(),
        templates: trace.args.templates().iter().map(|template| template.fields().to_vec()).collect(),
        events: event_columns(trace),
        instants: point_columns(trace.instants.iter().map(point_of_instant)),
        flows: point_columns(trace.flows.iter().map(point_of_flow)),
        flow_phases: trace.flows.iter().map(|flow| flow.phase).collect(),
        flow_ids: flow_ids(trace),
        flow_names: flow_names(trace),
        counters: point_columns(trace.counters.iter().map(point_of_counter)),
        counter_series: trace.counters.iter().map(|row| (row.series, row.value)).collect(),
        metadata: metadata_columns(&trace.metadata),
        nodes: trace.nodes.clone(),
        values: value_streams(trace),
        warnings: warnings(trace),
    }
}

/// What all rows without a duration have; an event has it too.
#[derive(Debug, Clone, Copy)]
struct Point {
    position: u32,
    name: StrId,
    category: StrId,
    track: TrackId,
    time: i64,
    args: ArgsRef,
}

fn event_columns(trace: &Trace) -> EventColumns {
    let events = &trace.events;
    let point = |row: usize| Point {
        position: events.position[row],
        name: events.name[row],
        category: events.category[row],
        track: events.track[row],
        time: events.start[row].0,
        args: events.args(row),
    };
    let durs = events.dur.iter().map(|dur| dur.0).collect();
    EventColumns { points: point_columns((0..events.len()).map(point)), durs }
}

fn point_of_instant(row: &Instant) -> Point {
    let Instant { position, name, category, track, time, args } = *row;
    Point { position, name, category, track, time: time.0, args }
}

fn point_of_flow(row: &Flow) -> Point {
    let Flow { position, name, category, track, time, args, .. } = *row;
    Point { position, name, category, track, time: time.0, args }
}

fn point_of_counter(row: &Counter) -> Point {
    let Counter { position, name, track, time, args, .. } = *row;
    Point { position, name, category: StrId::EMPTY, track, time: time.0, args }
}

fn metadata_columns(rows: &[Metadata]) -> MetadataColumns {
    MetadataColumns {
        positions: differences(rows.iter().map(|row| row.position)),
        names: rows.iter().map(|row| row.name).collect(),
        places: rows.iter().map(|row| (row.process, row.thread)).collect(),
        times: rows.iter().map(|row| row.time.map(|time| time.0)).collect(),
        templates: rows.iter().map(|row| row.args.template.0).collect(),
    }
}

fn point_columns(rows: impl Iterator<Item = Point> + Clone) -> PointColumns {
    PointColumns {
        positions: differences(rows.clone().map(|row| row.position)),
        names: rows.clone().map(|row| row.name).collect(),
        categories: rows.clone().map(|row| row.category).collect(),
        tracks: rows.clone().map(|row| row.track).collect(),
        times: times_by_track(rows.clone().map(|row| (row.track, row.time))),
        templates: rows.map(|row| row.args.template.0).collect(),
    }
}

fn flow_ids(trace: &Trace) -> Vec<i64> {
    let mut last = 0_i64;
    let difference = |id: i64| id.wrapping_sub(std::mem::replace(&mut last, id));
    let number = |id| match id {
        FlowId::Number(number) => number as i64,
        FlowId::Text(_) => 0,
    };
    trace.flows.iter().map(|flow| number(flow.id)).map(difference).collect()
}

fn flow_names(trace: &Trace) -> Vec<(u32, StrId)> {
    let name = |(row, id): (usize, FlowId)| match id {
        FlowId::Number(_) => None,
        FlowId::Text(name) => Some((row as u32, name)),
    };
    trace.flows.iter().map(|flow| flow.id).enumerate().filter_map(name).collect()
}

fn warnings(trace: &Trace) -> Vec<SavedWarning> {
    let saved = |warning: &Warning| SavedWarning {
        kind: warning.kind,
        count: warning.count,
        file: warning.first.file.as_deref().map(str::to_owned),
        byte: warning.first.byte,
        event: warning.first.event,
    };
    trace.warnings.iter().map(saved).collect()
}

fn differences(positions: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut last = 0;
    positions.map(|position| position.wrapping_sub(std::mem::replace(&mut last, position))).collect()
}

fn times_by_track(rows: impl Iterator<Item = (TrackId, i64)>) -> Vec<i64> {
    let mut last: FxHashMap<TrackId, i64> = FxHashMap::default();
    rows.map(|(track, time)| time.wrapping_sub(last.insert(track, time).unwrap_or(0))).collect()
}

/// Numbers of arguments, a stream a key, each as the difference to the one before.
fn value_streams(trace: &Trace) -> Vec<(StrId, Vec<i64>)> {
    let mut streams = ValueStreams::default();
    (0..trace.events.len()).for_each(|row| streams.push(trace, trace.events.args(row)));
    trace.instants.iter().for_each(|row| streams.push(trace, row.args));
    trace.flows.iter().for_each(|row| streams.push(trace, row.args));
    trace.counters.iter().for_each(|row| streams.push(trace, row.args));
    trace.metadata.iter().for_each(|row| streams.push(trace, row.args));
    streams.streams
}

#[derive(Debug, Default)]
struct ValueStreams {
    streams: Vec<(StrId, Vec<i64>)>,
    by_key: FxHashMap<StrId, (usize, i64)>,
}

impl ValueStreams {
    fn push(&mut self, trace: &Trace, args: ArgsRef) {
        let slots =
            trace.args.template(args).fields().iter().filter(|field| matches!(field.value, FieldValue::Slot(_)));
        for (field, value) in slots.zip(trace.args.values(args)) {
            let streams = &mut self.streams;
            let (stream, last) = self.by_key.entry(field.key).or_insert_with(|| {
                streams.push((field.key, Vec::new()));
                (streams.len() - 1, 0)
            });
            streams[*stream].1.push(value.wrapping_sub(*last));
            *last = *value;
        }
    }
}
