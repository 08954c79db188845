//! Answers the first request of a screen: groups, tracks, iterations and health.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::response::Response;
use super::screen::Screen;
use super::session_trace::TraceView;
use super::shown_kind::ShownKind;
use crate::analyze::{HealthRow, LinkCoverage, Problem, VerdictState, typical_trace};
use crate::edit::Companion;
use crate::id::{StrId, TrackId};
use crate::link::LinkedTrace;
use crate::sort;
use crate::trace::Trace;
use crate::trace::step_name::Phase;
use crate::trace::track::{Stream, Track};
use crate::vendor::device_model;

pub(super) fn answer(screen: &Screen<'_>) -> Response {
    let shown = ShownTracks::of(screen);
    let first = screen.parts.iter().find(|part| !part.linked.links.iterations.is_empty()).or(screen.parts.first());
    let num = |count: fn(&Trace) -> usize| screen.parts.iter().map(|part| count(&part.linked.trace)).sum::<usize>();
    let mut data = json!({
        "origin_ns": screen.parts.first().map_or(0, |part| part.zero.0).to_string(),
        "duration": screen.duration(),
        "num_events": num(|trace| trace.events.len()),
        "num_nodes": num(|trace| trace.nodes.len()),
        "title": screen.parts.first().map(|part| title(&part.linked.trace)),
        "parts": screen.parts.iter().map(|part| part_json(*part)).collect::<Vec<_>>(),
        "typical_part": screen.is_job().then(|| typical_trace(&screen.session.ranked())).flatten(),
        "device_names": device_names(screen),
        "groups": shown.groups,
        "tracks": shown.tracks,
        "iterations": first.map(|part| iterations(*part)),
        "num_frames": screen.parts.iter().map(|part| part.num_frames()).sum::<usize>(),
        "kinds": ShownKind::names(),
        "verdict": verdict_of(screen),
        "health": screen.parts.iter().flat_map(|part| health_of(*part)).collect::<Vec<_>>(),
        "coverage": coverage_of(screen),
    });
    let ranges = [("trimmed", screen.trimmed()), ("reported", screen.reported())];
    for (key, (start, end)) in ranges.into_iter().filter_map(|(key, range)| Some((key, range?))) {
        data[key] = json!({"start": start, "end": end});
    }
    Response::of("overview", &data)
}

/// A trace on the screen: `first_id` is to be taken off the screen's ids of its events.
fn part_json(part: TraceView<'_>) -> Value {
    let trace = &part.linked.trace;
    let mut data = json!({
        "part": part.at,
        "name": part.name,
        "rank": part.rank,
        "window": part.window,
        "title": title(trace),
        "first_id": part.first_id,
        "num_events": trace.events.len(),
        "origin_ns": part.zero.0.to_string(),
        "iterations": iterations(part),
    });
    if let Some(Companion { tool, align, offset_ns, spread_ns, .. }) = &part.companion {
        data["companion"] = json!({"tool": tool, "align": align, "offset_ns": offset_ns, "spread_ns": spread_ns});
    }
    data
}

fn iterations(part: TraceView<'_>) -> Vec<Value> {
    // Where all are observed, a mark tells nothing.
    let is_mixed = part.linked.clean_range().is_some();
    let iteration = |iteration: &crate::link::Iteration| {
        let name = part.linked.trace.event_name(iteration.event as usize);
        let mark = if is_mixed && iteration.is_observed { " (observed)" } else { "" };
        json!({
            "iteration": iteration.number,
            "name": format!("{name}{mark}"),
            "start": part.offset(iteration.start),
            "dur": iteration.dur.0 as f64,
            "is_observed": iteration.is_observed,
            "phase": iteration.facts.phase.map(Phase::name),
        })
    };
    part.linked.links.iterations.iter().map(iteration).collect()
}

/// Groups and tracks in the order in which they are shown. Groups are a tree: of several traces
/// each has one, and its processes and devices are in it. Those whose tracks are not shown are
/// there too, so that the numbers of groups stay.
#[derive(Default)]
pub(super) struct ShownTracks {
    groups: Vec<Value>,
    tracks: Vec<Value>,
    /// Part and key of each group of tracks.
    places: Vec<((usize, GroupKey), usize)>,
}

impl ShownTracks {
    pub(super) fn of(screen: &Screen<'_>) -> Self {
        let mut shown = Self::default();
        screen.parts.iter().for_each(|part| shown.add(*part, screen.parts.len() > 1));
        shown
    }

    /// The group of a track, or the first one of its part.
    pub(super) fn group_of(&self, part: TraceView<'_>, track: Option<TrackId>) -> usize {
        let key = track.map(|track| group_key(part.linked.trace.track(track)));
        let of_part = || self.places.iter().filter(|((at, _), _)| *at == part.at);
        let found = of_part().find(|((_, own), _)| Some(*own) == key).or_else(|| of_part().next());
        found.map_or(0, |(_, group)| *group)
    }

    fn add(&mut self, part: TraceView<'_>, is_one_of_several: bool) {
        let trace = &part.linked.trace;
        let parent = is_one_of_several.then(|| self.group(part, None, ("trace", &part_name(part)), false));
        let mut last = None;
        for track in display_order(part) {
            let key = group_key(&trace.tracks[track]);
            if last.replace(key) != Some(key) {
                let (kind, name) = group(&part.linked, &trace.tracks[track]);
                // Those of a process come after its other tracks, in a group of their own.
                let group = self.group(part, parent, (kind, &name), part.linked.is_profilers_own(track));
                self.places.push(((part.at, key), group));
            }
            if part.lanes().num_lanes(track) == 0 {
                continue;
            }
            self.tracks.push(json!({
                "track": part.first_track + track as u32,
                "group": self.groups.len() - 1,
                "kind": if trace.tracks[track].stream.is_some() { "stream" } else { "thread" },
                "name": track_name(trace, &trace.tracks[track]),
                "num_lanes": part.lanes().num_lanes(track),
                "num_events": part.lanes().num_events(track),
            }));
        }
    }

    fn group(
        &mut self,
        part: TraceView<'_>,
        parent: Option<usize>,
        (kind, name): (&str, &str),
        is_aside: bool,
    ) -> usize {
        let group = self.groups.len();
        let mut json = json!({"group": group, "parent": parent, "part": part.at, "kind": kind, "name": name});
        if is_aside {
            json["is_aside"] = true.into();
        }
        self.groups.push(json);
        group
    }
}

/// The display name of a trace: the host's name, with its rank.
pub(super) fn part_name(part: TraceView<'_>) -> String {
    match part.rank.map(|rank| format!("rank {rank}")) {
        Some(rank) if part.name.is_empty() => rank,
        Some(rank) => format!("{} · {rank}", part.name),
        None if part.name.is_empty() => format!("trace {}", part.at + 1),
        None => part.name.clone(),
    }
}

fn device_names(screen: &Screen<'_>) -> Vec<String> {
    let mut names: Vec<&String> = screen.parts.iter().flat_map(|part| part.linked.device_names()).collect();
    if screen.parts.len() > 1 {
        let mut seen = BTreeSet::new();
        names.retain(|name| seen.insert(*name));
    }
    names.into_iter().cloned().collect()
}

/// The worst state of all parts, and the problems of each.
fn verdict_of(screen: &Screen<'_>) -> Value {
    let state = screen.parts.iter().map(|part| part.verdict().state).max().unwrap_or(VerdictState::Complete);
    let of_part = |part: &TraceView<'_>| {
        let (at, first_id) = (part.at, part.first_id);
        let problem = move |problem: &Problem| {
            let mut events = problem.events.iter().map(|id| first_id + id);
            json!({
                "part": at,
                "state": problem.state,
                "message": problem.message,
                "advice": problem.advice,
                "event": events.find(|id| screen.event(*id).is_ok()),
            })
        };
        part.verdict().problems.iter().map(problem).collect::<Vec<_>>()
    };
    json!({"state": state, "problems": screen.parts.iter().flat_map(of_part).collect::<Vec<_>>()})
}

fn health_of(part: TraceView<'_>) -> Vec<Value> {
    let row = |row: &HealthRow| {
        let mut row = json!(row);
        row["part"] = part.at.into();
        row
    };
    part.health_and_coverage().0.iter().map(row).collect()
}

/// That of the only trace, or the shares of all together.
fn coverage_of(screen: &Screen<'_>) -> LinkCoverage {
    let mut all = screen.parts.iter().map(|part| part.health_and_coverage().1.clone());
    let mut first = all.next().unwrap_or_default();
    all.for_each(|other| first.add(other));
    first
}

type GroupKey = (bool, StrId);

/// The key of a group of tracks: process and side.
fn group_key(track: &Track) -> GroupKey {
    (track.stream.is_some(), track.process)
}

/// Tracks that have events, on the screen or not, in the order in which they are shown: as the file
/// sorts them, host before devices. The profiler's own tracks come last.
pub(super) fn display_order(part: TraceView<'_>) -> Vec<usize> {
    let (linked, trace) = (&part.linked, &part.linked.trace);
    let nesting = &linked.links.nesting;
    let used = (0..trace.tracks.len()).filter(|track| !nesting.track_rows((*track).into()).is_empty());
    let number = |id| trace.strings.text(id).parse::<i64>().unwrap_or(i64::MAX);
    let place = |at: usize| {
        let track = &trace.tracks[at];
        let sort_index = linked.process(track.process).and_then(|process| process.sort_index);
        let place = (sort_index.unwrap_or(i64::MAX), number(track.process), track.process);
        let inside = (track.sort_index.unwrap_or(i64::MAX), number(track.thread), at);
        ((part.linked.is_profilers_own(at), track.stream.is_some(), place, inside), at)
    };
    let mut order: Vec<_> = used.map(place).collect();
    sort::ascending(&mut order);
    order.into_iter().map(|(_, at)| at).collect()
}

/// The kind and the name of a track's group.
fn group(linked: &LinkedTrace, track: &Track) -> (&'static str, String) {
    let text = |id| linked.trace.strings.text(id).to_owned();
    let process_text = text(track.process);
    match &track.stream {
        Some(stream) => {
            let number = stream.device.map_or(process_text, |device| device.to_string());
            let names = linked.device_names();
            let device = stream.device.and_then(|device| usize::try_from(device).ok());
            let device = device.and_then(|device| names.get(device)).filter(|name| !name.is_empty());
            let model = device.map(|name| device_model(name));
            ("device", model.map_or_else(|| format!("Device {number}"), |model| format!("Device {number} · {model}")))
        }
        None => {
            let named = linked.process(track.process).map(|process| text(process.name)).filter(|name| !name.is_empty());
            ("host", named.map_or_else(|| format!("Process {process_text}"), |name| format!("{name} {process_text}")))
        }
    }
}

/// The display name of a track: from the file, else by number.
pub(super) fn track_name(trace: &Trace, track: &Track) -> String {
    let (name, thread) = (trace.strings.text(track.name).trim(), trace.strings.text(track.thread));
    match track.stream {
        // Waits for an event, or for all that a context does, are not those of a stream, and have
        // this number instead of one.
        Some(Stream { stream: Some(-1), .. }) => String::from("no stream (-1)"),
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
