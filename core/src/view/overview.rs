//! What a screen draws first: groups, tracks, iterations, and how healthy the trace is.

use serde_json::{Value, json};

use super::Session;
use super::response::Response;
use crate::analyze::{coverage, health};
use crate::sort;
use crate::trace::Trace;
use crate::trace::kind::EventKind;
use crate::trace::track::{Process, Track};

pub(super) fn answer(session: &Session) -> Response {
    let linked = &session.linked;
    let trace = &linked.trace;
    let order = display_order(session);
    let mut groups: Vec<Value> = Vec::new();
    let mut tracks: Vec<Value> = Vec::new();
    let mut last = None;
    for track in order {
        let key = group_key(&trace.tracks[track]);
        if last.replace(key) != Some(key) {
            groups.push(group(trace, &trace.tracks[track], groups.len()));
        }
        tracks.push(json!({
            "track": track,
            "group": groups.len() - 1,
            "kind": if trace.tracks[track].stream.is_some() { "stream" } else { "thread" },
            "name": track_name(trace, &trace.tracks[track]),
            "num_lanes": session.lanes().num_lanes(track),
            "num_events": linked.links.nesting.track_rows(track.into()).len(),
        }));
    }
    let iterations = linked.links.iterations.iter().map(|iteration| {
        json!({
            "iteration": iteration.number,
            "name": trace.event_name(iteration.event as usize),
            "start": session.offset(iteration.start),
            "dur": iteration.dur.0 as f64,
        })
    });
    Response::of(
        "overview",
        &json!({
            "origin_ns": session.range.start.0.to_string(),
            "duration": session.range.dur().0 as f64,
            "num_events": trace.events.len(),
            "num_nodes": trace.nodes.len(),
            "title": title(trace),
            "rank": trace.rank(),
            "device_names": trace.device_names(),
            "groups": groups,
            "tracks": tracks,
            "iterations": iterations.collect::<Vec<_>>(),
            "kinds": EventKind::ALL.map(EventKind::name),
            "health": health(linked),
            "coverage": coverage(linked),
        }),
    )
}

/// What tells one group of tracks from the next: the process, and the side.
fn group_key(track: &Track) -> (bool, crate::id::StrId) {
    (track.stream.is_some(), track.process)
}

/// Tracks that have events, in the order in which they are shown: as the file sorts them, host before devices.
/// The profiler's own tracks come last.
pub(super) fn display_order(session: &Session) -> Vec<usize> {
    let trace = &session.linked.trace;
    let shown = (0..trace.tracks.len()).filter(|track| session.lanes().num_lanes(*track) > 0);
    let number = |id| trace.strings.text(id).parse::<i64>().unwrap_or(i64::MAX);
    let place = |at: usize| {
        let track = &trace.tracks[at];
        let sort_index = process(trace, track).and_then(|process| process.sort_index);
        let place = (sort_index.unwrap_or(i64::MAX), number(track.process), track.process);
        let inside = (track.sort_index.unwrap_or(i64::MAX), number(track.thread), at);
        ((is_aside(session, at), track.stream.is_some(), place, inside), at)
    };
    let mut order: Vec<_> = shown.map(place).collect();
    sort::ascending(&mut order);
    order.into_iter().map(|(_, at)| at).collect()
}

/// Whether a track tells of the profiler, not of what was profiled: such tracks come last.
fn is_aside(session: &Session, track: usize) -> bool {
    let kinds = &session.linked.trace.events.kind;
    let mut rows = session.linked.links.nesting.track_rows(track.into()).iter();
    rows.all(|row| matches!(kinds[*row as usize], EventKind::Overhead | EventKind::Other))
}

fn process<'a>(trace: &'a Trace, track: &Track) -> Option<&'a Process> {
    trace.processes.iter().find(|process| process.process == track.process)
}

fn group(trace: &Trace, track: &Track, group: usize) -> Value {
    let text = |id| trace.strings.text(id).to_owned();
    let process_text = text(track.process);
    let (kind, name) = match &track.stream {
        Some(stream) => {
            let number = stream.device.map_or(process_text, |device| device.to_string());
            let names = trace.device_names();
            let device = stream.device.and_then(|device| usize::try_from(device).ok());
            let device = device.and_then(|device| names.get(device)).filter(|name| !name.is_empty());
            ("device", device.map_or_else(|| format!("Device {number}"), |name| format!("Device {number} · {name}")))
        }
        None => {
            let named = process(trace, track).map(|process| text(process.name)).filter(|name| !name.is_empty());
            ("host", named.map_or_else(|| format!("Process {process_text}"), |name| format!("{name} {process_text}")))
        }
    };
    json!({"group": group, "kind": kind, "name": name})
}

/// What a track is called: by the file, else by its number.
pub(super) fn track_name(trace: &Trace, track: &Track) -> String {
    let (name, thread) = (trace.strings.text(track.name).trim(), trace.strings.text(track.thread));
    match track.stream {
        // A place that says more than the number tells one stream from another of the same number.
        Some(stream) => stream
            .stream
            .map(|number| format!("stream {number}"))
            .filter(|name| !thread.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with(' ')))
            .unwrap_or_else(|| thread.to_owned()),
        None if name.is_empty() => format!("thread {thread}"),
        None => name.to_owned(),
    }
}

fn title(trace: &Trace) -> String {
    let name = trace.header_value("traceName");
    name.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
}
