//! Finds the events of annotations or modules by name.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::part::{NamedCalls, TracePart};
use crate::column::OptionalColumn;
use crate::id::StrId;
use crate::link::{LinkedTrace, MODULE_PREFIX};
use crate::time::TimeRange;
use crate::trace::iteration::is_like;
use crate::trace::kind::EventKind;

/// Kind of the calls that a name chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallKind {
    /// User annotations: their events, the device work launched inside them, and the backward pass
    /// that their thread waited for.
    Annotation,
    /// Calls of modules: their events, those of their backward pass, and the device work of both.
    Module,
}

impl CallKind {
    /// The name of the call of an event, if it is one.
    fn name(self, linked: &LinkedTrace, row: usize) -> Option<&str> {
        let name = linked.trace.event_name(row);
        match (self, linked.trace.events.kind[row]) {
            (Self::Annotation, EventKind::Annotation) => Some(name),
            (Self::Module, EventKind::Python) => name.strip_prefix(MODULE_PREFIX),
            _ => None,
        }
    }

    /// The innermost call around each event.
    fn around(self, linked: &LinkedTrace) -> &OptionalColumn {
        match self {
            Self::Annotation => &linked.frames().annotation,
            Self::Module => &linked.frames().module,
        }
    }

    /// Whether a kernel of a graph names such a call itself. A path of modules has all above it.
    fn is_stated(self, linked: &LinkedTrace, row: usize, pattern: &str) -> bool {
        match self {
            Self::Annotation => linked.trace.stated_annotation(row).is_some_and(|name| is_like(&name, pattern)),
            Self::Module => linked.trace.stated_module(row).is_some_and(|path| {
                let ends = path.match_indices('.').map(|(end, _)| end).chain([path.len()]);
                ends.take(MAX_PATH).any(|end| is_like(&path[..end], pattern))
            }),
        }
    }
}

/// Parts of a path that are looked at.
const MAX_PATH: usize = 64;

/// Names of calls in the order of time, each once; at most so many.
pub(super) fn names_of(linked: &LinkedTrace, kind: CallKind, limit: usize) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for row in 0..linked.trace.events.len() {
        if let Some(name) = kind.name(linked, row).filter(|name| names.len() < limit && !names.contains(name)) {
            names.push(name);
        }
    }
    names
}

/// The part of the calls with a name like `pattern` that begin in `within`; `None` if there is no
/// such call in the trace.
pub(super) fn named_part(
    linked: &LinkedTrace,
    kind: CallKind,
    pattern: &str,
    within: Option<&TracePart>,
) -> Option<TracePart> {
    let events = &linked.trace.events;
    let is_within = |row: usize| within.is_none_or(|part| part.has(events.start.at(row)));
    let of_event = calls_of_events(linked, kind, pattern);
    let mut is_known = false;
    let mut kept = OptionalColumn::empty(events.len());
    let mut times = Vec::new();
    for row in 0..events.len() {
        let Some(call) = of_event.get(row) else { continue };
        is_known = true;
        if is_within(call as usize) {
            kept.set(row, call);
            if call as usize == row && !linked.trace.is_on_device(row) {
                times.push(TimeRange { start: events.start.at(row), end: events.end(row) });
            }
        }
    }
    let windows = windows(linked, &kept);
    is_known.then(|| TracePart::of_calls(times, NamedCalls { of_event: kept, windows }))
}

/// The outermost call with such a name that each event is for.
fn calls_of_events(linked: &LinkedTrace, kind: CallKind, pattern: &str) -> OptionalColumn {
    let (trace, links) = (&linked.trace, &linked.links);
    let around = kind.around(linked);
    let mut calls = OptionalColumn::empty(trace.events.len());
    let mut is_named: FxHashMap<StrId, bool> = FxHashMap::default();
    let mut is_call = |row: usize| {
        let Some(name) = kind.name(linked, row) else { return false };
        *is_named.entry(trace.events.name.at(row)).or_insert_with(|| is_like(name, pattern))
    };
    let on_device = |is_device: bool| {
        let tracks = (0..trace.tracks.len()).filter(move |at| trace.tracks[*at].stream.is_some() == is_device);
        tracks.flat_map(|at| links.nesting.track_rows(at.into())).map(|row| *row as usize)
    };
    // Calls on other threads, as those of forward operators, come before the events that need them.
    let hosts = || on_device(false).filter(|row| kind.name(linked, *row).is_some());
    for row in hosts().chain(on_device(false)).chain(on_device(true)) {
        let outer = around.get(row).and_then(|call| calls.get(call as usize));
        if let Some(call) = outer.or_else(|| is_call(row).then_some(row as u32)) {
            calls.set(row, call);
        }
    }
    if trace.has_marks() {
        for row in on_device(true).filter(|row| kind.is_stated(linked, *row, pattern)) {
            calls.set(row, links.launch.get(row).unwrap_or(row as u32));
        }
    }
    if kind == CallKind::Annotation {
        add_enclosed(linked, &mut calls);
    }
    calls
}

/// Adds device work that annotations enclose by time though another thread launched it, with the
/// operators that did.
fn add_enclosed(linked: &LinkedTrace, calls: &mut OptionalColumn) {
    let (events, links) = (&linked.trace.events, &linked.links);
    let mut carried = OptionalColumn::empty(events.len());
    let is_outermost = |row: &usize| calls.get(*row) == Some(*row as u32);
    let outermost: Vec<usize> = (0..events.len()).filter(is_outermost).collect();
    for call in outermost {
        for work in linked.enclosed_work(call).unwrap_or_default() {
            if calls.get(*work as usize).is_some() {
                continue;
            }
            calls.set(*work as usize, call as u32);
            let mut host = links.launch.get(*work as usize).map(|launch| launch as usize);
            while let Some(row) =
                host.filter(|row| calls.get(*row).is_none() && events.start.at(*row) >= events.start.at(call))
            {
                calls.set(row, call as u32);
                carried.set(row, call as u32);
                host = links.nesting.parent.get(row).map(|parent| parent as usize);
            }
        }
    }
    for row in links.nesting.order.iter().map(|row| *row as usize) {
        let parent = || links.nesting.parent.get(row).and_then(|parent| carried.get(parent as usize));
        if let Some(call) = carried.get(row).or_else(parent) {
            carried.set(row, call);
            calls.set(row, call);
        }
    }
}

/// Times of each device from the first to the last work of each call. Work that was launched after
/// the call, as that of its backward pass, has a time of its own.
fn windows(linked: &LinkedTrace, calls: &OptionalColumn) -> BTreeMap<Option<i64>, Vec<TimeRange>> {
    let (trace, events) = (&linked.trace, &linked.trace.events);
    let mut found: BTreeMap<Option<i64>, FxHashMap<(u32, bool), TimeRange>> = BTreeMap::new();
    for row in events.device_work() {
        let Some(call) = calls.get(row) else { continue };
        let launch = linked.links.launch.get(row).map_or(row, |launch| launch as usize);
        let is_later = events.start.at(launch) >= events.end(call as usize);
        let time = TimeRange { start: events.start.at(row), end: events.end(row) };
        let window = found.entry(trace.device(row)).or_default().entry((call, is_later)).or_insert(time);
        *window = TimeRange { start: window.start.min(time.start), end: window.end.max(time.end) };
    }
    let times = |windows: FxHashMap<_, TimeRange>| super::interval::union(windows.into_values().collect());
    found.into_iter().map(|(device, windows)| (device, times(windows))).collect()
}
