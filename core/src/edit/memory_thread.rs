//! Finds the thread of a change of memory that has no record of the profiler.

use serde_json::Value;

use super::memory_record::next_position;
use crate::id::{StrId, TrackId};
use crate::link::LinkedTrace;
use crate::memory::allocator_history::AllocatorChange;
use crate::trace::Trace;
use crate::trace::args::{ArgsRef, ArgsTemplate, FieldValue, TemplateField};
use crate::trace::flow::Metadata;
use crate::trace::kind::EventKind;
use crate::trace::track::Track;

/// The name of the thread of changes whose own is not known.
const OTHER: &str = "Memory snapshot";
/// Its number, which no thread of a system has.
const OTHER_NUMBER: &str = "memory";

/// Host threads of a trace.
pub(super) struct MemoryThreads<'a> {
    linked: &'a LinkedTrace,
    hosts: Vec<TrackId>,
    other: Option<TrackId>,
}

impl<'a> MemoryThreads<'a> {
    pub(super) fn of(linked: &'a LinkedTrace) -> Self {
        Self { linked, hosts: hosts(&linked.trace).collect(), other: None }
    }

    /// The thread of a change; `trace` gets one for changes whose own is not known.
    pub(super) fn of_change(&mut self, trace: &mut Trace, change: &AllocatorChange) -> TrackId {
        self.found(change).unwrap_or_else(|| self.other(trace))
    }

    /// The thread of changes whose own is not known, added to `trace` at first use.
    pub(super) fn other(&mut self, trace: &mut Trace) -> TrackId {
        *self.other.get_or_insert_with(|| added(trace))
    }

    /// The only thread with an operator at the time of a change; of several, the only one whose
    /// frames have its line, or that has no frames if it has no line.
    fn found(&self, change: &AllocatorChange) -> Option<TrackId> {
        let events = &self.linked.trace.events;
        let innermost =
            |track: &TrackId| Some((*track, self.linked.links.nesting.around(events, *track, change.time)?));
        let busy: Vec<(TrackId, u32)> = self.hosts.iter().filter_map(innermost).collect();
        let has = |row: u32, kind: EventKind| self.outwards(row).any(|row| events.kind[row] == kind);
        let with_operator: Vec<_> = busy.iter().filter(|(_, row)| has(*row, EventKind::Operator)).copied().collect();
        let candidates = if with_operator.is_empty() { busy } else { with_operator };
        if let [(track, _)] = candidates[..] {
            return Some(track);
        }
        let has_line = |(_, row): &(TrackId, u32)| match change.block.line.as_deref() {
            Some(line) => self.outwards(*row).any(|row| self.linked.trace.event_name(row) == line),
            None => !has(*row, EventKind::Python),
        };
        let mut fitting = candidates.into_iter().filter(has_line);
        let (track, _) = fitting.next()?;
        fitting.next().is_none().then_some(track)
    }

    /// An event and all that it is inside of.
    fn outwards(&self, row: u32) -> impl Iterator<Item = usize> {
        let outer = |row: &u32| self.linked.links.nesting.parent.get(*row as usize);
        std::iter::successors(Some(row), outer).map(|row| row as usize)
    }
}

fn hosts(trace: &Trace) -> impl Iterator<Item = TrackId> {
    (0..trace.tracks.len()).map(TrackId::from).filter(|track| trace.track(*track).stream.is_none())
}

/// Adds a thread of the process of the operators.
fn added(trace: &mut Trace) -> TrackId {
    let events = &trace.events;
    let operator = events.kind.iter().position(|kind| *kind == EventKind::Operator);
    let track = operator.map(|row| events.track.at(row));
    let process = track.or_else(|| hosts(trace).next()).map_or(StrId::EMPTY, |track| trace.track(track).process);
    let [thread, name, key] = [OTHER_NUMBER, OTHER, "thread_name"].map(|text| trace.strings.intern(text));
    let [json, field] = [&Value::from(OTHER).to_string(), "name"].map(|text| trace.strings.intern(text));
    trace.tracks.push(Track { process, thread, name, sort_index: None, stream: None });
    let value = TemplateField { key: field, value: FieldValue::Json(json), is_outer: false };
    let template = trace.args.push(ArgsTemplate::new(vec![value], &trace.strings));
    let args = ArgsRef { template, start: 0 };
    let position = next_position(trace);
    trace.metadata.push(Metadata { position, name: key, process, thread, time: None, args });
    TrackId::from(trace.tracks.len() - 1)
}
