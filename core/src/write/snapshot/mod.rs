//! Writes snapshots: the columns of a trace, small enough for a page.
//!
//! `MAGIC`, a version byte, then four sections: [`SnapshotColumns`], the events' starts,
//! [`SavedArguments`], the events' durations. One thread can load the first two while another one
//! loads the others. A section has its decompressed length and its stored length (both u64 LE), the
//! CRC-32 of its decompressed bytes (u32 LE), then postcard's encoding in a deflate stream, or
//! plain if both lengths are equal. Bytes after the last section are ignored.
//!
//! It contains only the recording; links are recomputed after loading. Times are differences to the
//! previous event on the track, numbers of arguments differences to the previous one of the key:
//! most become small, and deflate shrinks the rest.

mod arguments;

use std::io::Write as _;

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::packed::PackedNumbers;
use crate::error::{Error, ErrorKind, Position};
use crate::id::{StrId, TrackId};
use crate::time::Ts;
use crate::trace::Trace;
use crate::trace::flow::{Counter, Flow, FlowId, FlowPhase, Instant, Metadata};
use crate::trace::node::Node;
use crate::trace::track::{Process, Track};
use crate::warning::{Warning, WarningKind};
pub use arguments::SavedArguments;

/// First bytes of every snapshot.
pub const MAGIC: &[u8] = b"kscope\0";
/// The version written and read.
pub const VERSION: u8 = 5;

/// A snapshot without arguments and times of events, in the order of its encoding.
#[derive(Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields of `Trace`, column by column")]
pub struct SnapshotColumns<'a> {
    #[serde(borrow)]
    pub strings: Vec<&'a str>,
    pub header: Vec<(StrId, StrId)>,
    pub execution_header: Vec<(StrId, StrId)>,
    pub has_coarse_times: bool,
    pub base_ns: i64,
    pub tracks: Vec<Track>,
    pub processes: Vec<Process>,
    #[serde(borrow)]
    pub events: PointColumns<'a>,
    #[serde(borrow)]
    pub instants: PointColumns<'a>,
    #[serde(borrow)]
    pub instant_times: PackedNumbers<'a>,
    #[serde(borrow)]
    pub flows: PointColumns<'a>,
    #[serde(borrow)]
    pub flow_times: PackedNumbers<'a>,
    pub flow_phases: Vec<FlowPhase>,
    #[serde(borrow)]
    pub flow_ids: PackedNumbers<'a>,
    pub flow_names: Vec<(u32, StrId)>,
    #[serde(borrow)]
    pub counters: PointColumns<'a>,
    #[serde(borrow)]
    pub counter_times: PackedNumbers<'a>,
    pub counter_series: Vec<(StrId, f64)>,
    #[serde(borrow)]
    pub metadata: MetadataColumns<'a>,
    pub nodes: Vec<Node>,
    pub warnings: Vec<SavedWarning>,
}

/// Columns of rows with a position and a time, without the times.
#[derive(Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "as above")]
pub struct PointColumns<'a> {
    #[serde(borrow)]
    pub positions: PackedNumbers<'a>,
    #[serde(borrow)]
    pub names: PackedNumbers<'a>,
    #[serde(borrow)]
    pub categories: PackedNumbers<'a>,
    #[serde(borrow)]
    pub tracks: PackedNumbers<'a>,
}

/// Columns of metadata events.
#[derive(Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "as above")]
pub struct MetadataColumns<'a> {
    #[serde(borrow)]
    pub positions: PackedNumbers<'a>,
    #[serde(borrow)]
    pub names: PackedNumbers<'a>,
    pub places: Vec<(StrId, StrId)>,
    pub times: Vec<Option<i64>>,
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
        let sections = [
            section(&columns(trace))?,
            section(&starts(trace))?,
            section(&SavedArguments::of(trace))?,
            section(&durs(trace))?,
        ];
        Ok([MAGIC, &[VERSION], &sections.concat()].concat())
    };
    encode().map_err(|error| {
        let found = error.to_string();
        ErrorKind::Malformed { expected: "a trace that can be encoded", found, position: Position::default() }.into()
    })
}

fn section(content: &impl Serialize) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let text = postcard::to_stdvec(content)?;
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&text)?;
    let deflated = encoder.finish()?;
    // Above this ratio, inflating takes longer than loading plain bytes.
    let body = if deflated.len() > text.len() / 2 { &text } else { &deflated };
    let mut checksum = Crc::new();
    checksum.update(&text);
    let lengths = [text.len(), body.len()].map(|length| (length as u64).to_le_bytes());
    Ok([&lengths.concat(), checksum.sum().to_le_bytes().as_slice(), body].concat())
}

fn columns(trace: &Trace) -> SnapshotColumns<'_> {
    let strings = &trace.strings;
    SnapshotColumns {
        strings: strings.iter().collect(),
        header: trace.header.clone(),
        execution_header: trace.execution_header.clone(),
        has_coarse_times: trace.has_coarse_times,
        base_ns: trace.base_ns,
        tracks: trace.tracks.clone(),
        processes: trace.processes.clone(),
        events: event_columns(trace),
        instants: point_columns(trace.instants.iter().map(point_of_instant)),
        instant_times: times_by_track(trace.instants.iter().map(|row| (row.track, row.time))),
        flows: point_columns(trace.flows.iter().map(point_of_flow)),
        flow_times: times_by_track(trace.flows.iter().map(|row| (row.track, row.time))),
        flow_phases: trace.flows.iter().map(|flow| flow.phase).collect(),
        flow_ids: flow_ids(trace),
        flow_names: flow_names(trace),
        counters: point_columns(trace.counters.iter().map(point_of_counter)),
        counter_times: times_by_track(trace.counters.iter().map(|row| (row.track, row.time))),
        counter_series: trace.counters.iter().map(|row| (row.series, row.value)).collect(),
        metadata: metadata_columns(&trace.metadata),
        nodes: trace.nodes.clone(),
        warnings: warnings(trace),
    }
}

fn starts(trace: &Trace) -> PackedNumbers<'static> {
    times_by_track(trace.events.track.iter().zip(trace.events.start.iter()))
}

fn durs(trace: &Trace) -> PackedNumbers<'static> {
    PackedNumbers::signed(trace.events.recorded_durs().iter().map(|dur| dur.0))
}

/// The fields of all rows without a duration, and of events.
#[derive(Debug, Clone, Copy)]
struct SavedPoint {
    position: u32,
    name: StrId,
    category: StrId,
    track: TrackId,
}

fn event_columns(trace: &Trace) -> PointColumns<'static> {
    let events = &trace.events;
    let point = |row: usize| SavedPoint {
        position: events.position.at(row),
        name: events.name.at(row),
        category: events.category.at(row),
        track: events.track.at(row),
    };
    point_columns((0..events.len()).map(point))
}

fn point_of_instant(row: &Instant) -> SavedPoint {
    let Instant { position, name, category, track, .. } = *row;
    SavedPoint { position, name, category, track }
}

fn point_of_flow(row: &Flow) -> SavedPoint {
    let Flow { position, name, category, track, .. } = *row;
    SavedPoint { position, name, category, track }
}

fn point_of_counter(row: &Counter) -> SavedPoint {
    let Counter { position, name, track, .. } = *row;
    SavedPoint { position, name, category: StrId::EMPTY, track }
}

fn metadata_columns(rows: &[Metadata]) -> MetadataColumns<'static> {
    MetadataColumns {
        positions: differences(rows.iter().map(|row| row.position)),
        names: PackedNumbers::of(rows.iter().map(|row| u64::from(row.name.0))),
        places: rows.iter().map(|row| (row.process, row.thread)).collect(),
        times: rows.iter().map(|row| row.time.map(|time| time.0)).collect(),
    }
}

fn point_columns(rows: impl Iterator<Item = SavedPoint> + Clone) -> PointColumns<'static> {
    PointColumns {
        positions: differences(rows.clone().map(|row| row.position)),
        names: PackedNumbers::of(rows.clone().map(|row| u64::from(row.name.0))),
        categories: PackedNumbers::of(rows.clone().map(|row| u64::from(row.category.0))),
        tracks: PackedNumbers::of(rows.map(|row| u64::from(row.track.0))),
    }
}

fn flow_ids(trace: &Trace) -> PackedNumbers<'static> {
    let mut last = 0_i64;
    let difference = |id: i64| id.wrapping_sub(std::mem::replace(&mut last, id));
    let number = |id| match id {
        FlowId::Number(number) => number as i64,
        FlowId::Text(_) => 0,
    };
    PackedNumbers::signed(trace.flows.iter().map(|flow| number(flow.id)).map(difference))
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

fn differences(positions: impl Iterator<Item = u32>) -> PackedNumbers<'static> {
    let mut last = 0;
    let difference = |position: u32| position.wrapping_sub(std::mem::replace(&mut last, position));
    PackedNumbers::of(positions.map(difference).map(u64::from))
}

fn times_by_track(rows: impl Iterator<Item = (TrackId, Ts)>) -> PackedNumbers<'static> {
    let mut last: FxHashMap<TrackId, i64> = FxHashMap::default();
    PackedNumbers::signed(rows.map(|(track, Ts(time))| time.wrapping_sub(last.insert(track, time).unwrap_or(0))))
}
