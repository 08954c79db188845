//! Gives events without a category their kind and their stream, from the names of processes.
//!
//! Kineto puts a category on each event. Other recorders name processes instead: those of devices,
//! of the runtime, of derived rows.

use super::Trace;
use super::track::Stream;
use crate::event_kind::EventKind;
use crate::id::{StrId, TrackId};
use crate::vendor::{self, ProcessRows};

/// Assigns kinds and streams. Does nothing to a trace without such processes.
pub(crate) fn assign(trace: &mut Trace) {
    let rows: Vec<_> = trace.tracks.iter().map(|track| rows_of(trace, track.process)).collect();
    if rows.iter().all(Option::is_none) {
        return;
    }
    let has_streams = trace.tracks.iter().zip(&rows).any(|(track, rows)| {
        *rows == Some(ProcessRows::Device) && stream_number(trace.strings.text(track.name)).is_some()
    });
    let work: Vec<_> = trace
        .tracks
        .iter()
        .zip(rows)
        .map(|(track, rows)| TrackRows::of(rows, trace.strings.text(track.name), has_streams))
        .collect();
    for row in 0..trace.events.len() {
        if trace.events.kind[row] != EventKind::Other {
            continue;
        }
        trace.events.kind[row] = match work[trace.events.track[row].index()] {
            TrackRows::Work => device_kind(trace, row),
            TrackRows::Communication => EventKind::Kernel,
            TrackRows::Calls if vendor::has_call_prefix(trace.event_name(row)) => EventKind::Launch,
            TrackRows::Ranges => EventKind::Annotation,
            TrackRows::Calls | TrackRows::Other => EventKind::Other,
        };
    }
    for at in 0..trace.tracks.len() {
        if matches!(work[at], TrackRows::Work | TrackRows::Communication) {
            let stream = stream(trace, at.into());
            trace.tracks[at].stream.get_or_insert(stream);
        }
    }
}

/// The rows of a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TrackRows {
    /// Tasks of a stream.
    Work,
    /// Whole communications of a device.
    Communication,
    /// Calls of the runtime.
    Calls,
    /// Ranges on a device.
    Ranges,
    Other,
}

impl TrackRows {
    /// `has_streams` says whether any track of a device is named after a stream.
    fn of(rows: Option<ProcessRows>, name: &str, has_streams: bool) -> Self {
        match rows {
            Some(ProcessRows::Device) if stream_number(name).is_some() => Self::Work,
            Some(ProcessRows::Device) if has_streams => Self::Other,
            Some(ProcessRows::Device) if matches!(name, "Steps" | "XLA Modules") => Self::Ranges,
            // Rows of one device that repeat its work by other names.
            Some(ProcessRows::Device) if name.is_empty() || name.ends_with("XLA Ops") => Self::Work,
            // Planes hold the steps of the communications that groups hold.
            Some(ProcessRows::Communication) if !name.starts_with("Plane") => Self::Communication,
            Some(ProcessRows::Calls) => Self::Calls,
            Some(ProcessRows::Device | ProcessRows::Communication | ProcessRows::Derived) | None => Self::Other,
        }
    }
}

fn rows_of(trace: &Trace, process: StrId) -> Option<ProcessRows> {
    let process = trace.processes.iter().find(|other| other.process == process)?;
    vendor::process_rows(trace.strings.text(process.name))
}

/// `Stream 2`, `Stream #20(Compute)`.
fn stream_number(name: &str) -> Option<i64> {
    let rest = name.strip_prefix("Stream")?.trim_start_matches([' ', '#']);
    digits(rest)
}

fn digits(text: &str) -> Option<i64> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

/// The kind of a task, from its type or its name.
fn device_kind(trace: &Trace, row: usize) -> EventKind {
    let mut pairs = trace.args.pairs(&trace.strings, trace.events.args(row));
    let task = pairs.find(|(key, _)| *key == "Task Type").map(|(_, json)| json);
    let of_type = task.and_then(|task| vendor::task_kind(&task.to_lowercase()));
    of_type.or_else(|| vendor::task_kind(&trace.event_name(row).to_lowercase())).unwrap_or(EventKind::Kernel)
}

/// The stream of a track: its number by the name, or else by the thread; the device by the label or
/// the name of its process, or else by the place of that among the processes of devices.
fn stream(trace: &Trace, track: TrackId) -> Stream {
    let track = trace.track(track);
    let text = |id| trace.strings.text(id);
    let is_device = |name: &str| matches!(vendor::process_rows(name), Some(ProcessRows::Device));
    let last = |text: &str| {
        let tail = text.rfind(|letter: char| !letter.is_ascii_digit()).map_or(0, |at| at + 1);
        text[tail..].parse().ok()
    };
    let mut devices = trace.processes.iter().filter(|process| is_device(text(process.name)));
    let place = devices.position(|process| process.process == track.process);
    let process = trace.processes.iter().find(|process| process.process == track.process);
    let written = process.and_then(|process| last(text(process.labels)).or_else(|| last(text(process.name))));
    Stream {
        device: written.or(Some(place.map_or(0, |place| place as i64))),
        stream: stream_number(text(track.name)).or_else(|| text(track.thread).parse().ok()),
    }
}

/// The program that recorded a trace, where that is not Kineto.
pub fn recorder(trace: &Trace) -> Option<&'static str> {
    let has_key = |key: &str| trace.header.iter().any(|(name, _)| trace.strings.text(*name) == key);
    if has_key("viztracer_metadata") {
        return Some("VizTracer");
    }
    let names = trace.processes.iter().map(|process| trace.strings.text(process.name));
    names.filter_map(vendor::recorder).next()
}
