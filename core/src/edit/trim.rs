//! Trims a trace to a range, with everything linked to it.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use serde_json::json;

use super::capture::with_own_captures;
use super::edit_log::{TRIM, note};
use super::held_memory::held_memory;
use super::kept_rows::{KeptRows, count, renumber, sort_tracks};
use crate::error::Position;
use crate::id::TrackId;
use crate::link::{Edge, EdgeKind, LinkedTrace, report_witnesses, stream_wait_witnesses};
use crate::time::{TimeRange, Ts};
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::flow::Instant;
use crate::trace::kind::EventKind;
use crate::trace::node::NodeKind;
use crate::warning::{WarningKind, Warnings};

/// A part of a trace, as a file of its own.
#[derive(Debug, Clone, Default)]
pub struct TrimmedTrace {
    /// The part. An id in it is the position in the file that `write_chrome` makes of it.
    pub trace: Trace,
    /// The id that each element had before, by the one that it has now; ascending.
    pub ids: Vec<u32>,
}

impl TrimmedTrace {
    /// The new id of an old id; `None` for a removed row.
    pub fn id(&self, before: u32) -> Option<u32> {
        self.ids.binary_search(&before).ok().map(|id| id as u32)
    }
}

/// Keeps all rows that overlap `range` and their links; nothing is cut, and no time changes.
///
/// Links of an event in the range lead to the same rows as before. So these rows stay, wherever
/// they are: launches with their device work, forward and backward operators, waits with their
/// work; everything around these, their operators, and their iterations. Kernels of graphs state
/// what their capture knows of them, as it may be far away. The work of each stream right before
/// and after the range stays with its launch, for the gaps at the ends. Instants and counters in
/// the range stay, ends of flows with their events, and all metadata. Of a trace with its memory
/// snapshot, records of memory in use as the range begins stay, with what made it. Of the Execution
/// Trace stay the nodes of these events with their parents, and nodes without an event between
/// those of the range.
///
/// ```
/// use kinetoscope::edit::trim;
/// use kinetoscope::time::{TimeRange, Ts};
/// use kinetoscope::{Input, Limits, LinkedTrace, read};
/// let json = br#"[{"ph": "X", "cat": "cpu_op", "name": "a", "tid": 1, "ts": 1, "dur": 2},
///     {"ph": "X", "cat": "cpu_op", "name": "b", "tid": 1, "ts": 5, "dur": 2}]"#;
/// let linked = LinkedTrace::new(read([Input::new(json)], Limits::default())?);
/// let part = trim(&linked, TimeRange { start: Ts(6_000), end: Ts(6_500) });
/// assert_eq!((part.trace.event_name(0), part.ids), ("b", vec![1]));
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn trim(linked: &LinkedTrace, range: TimeRange) -> TrimmedTrace {
    let trace = &linked.trace;
    let held = held_memory(trace, range.start);
    let mut reach = LinkedEvents::new(linked, range);
    makers(linked, &held).into_iter().for_each(|row| reach.keep(row));
    let mut events = reach.rows();
    for row in beside(linked, range) {
        events[row] = true;
    }
    let is_inside = |time: Ts| range.start <= time && time < range.end;
    let mut instants: Vec<bool> = trace.instants.iter().map(|row| is_inside(row.time)).collect();
    held.into_iter().for_each(|row| instants[row] = true);
    let kept = KeptRows {
        instants,
        counters: trace.counters.iter().map(|row| is_inside(row.time)).collect(),
        flows: flows(trace, &events, is_inside),
        nodes: nodes(linked, &events, is_inside),
        events,
    };
    let num_events = count(&kept.events);
    let stated = with_own_captures(linked, &kept.events);
    let mut part = kept.of(stated.as_ref().unwrap_or(trace));
    let ids = renumber(&mut part);
    sort_tracks(&mut part);
    let num_left_out = (trace.events.len() - num_events) as u64;
    let whole = trace.range();
    let words = json!({
        "edit": TRIM,
        "start_ns": range.start.0,
        "end_ns": range.end.0,
        "whole_start_ns": whole.start.0,
        "whole_end_ns": whole.end.0,
        "num_events_left_out": num_left_out,
    });
    note(&mut part, &words);
    let mut trimmed = TrimmedTrace { trace: part, ids };
    trimmed.trace.warnings = warnings(trace, &trimmed);
    trimmed.trace.warnings.push_many(WarningKind::Trimmed, num_left_out, Position::default);
    trimmed
}

/// The events that these records of memory are inside of and, as their modules tell whose memory it
/// is, the forward operators of backward ones.
fn makers(linked: &LinkedTrace, records: &[usize]) -> Vec<u32> {
    let (trace, nesting) = (&linked.trace, &linked.links.nesting);
    let around = |row: &usize| {
        let Instant { track, time, .. } = trace.instants[*row];
        nesting.around(&trace.events, track, time)
    };
    let mut is_maker = vec![false; trace.events.len()];
    let mut makers = Vec::new();
    for row in records.iter().filter_map(around) {
        let outwards = std::iter::successors(Some(row), |row| nesting.parent.get(*row as usize));
        makers.extend(outwards.take_while(|row| !std::mem::replace(&mut is_maker[*row as usize], true)));
    }
    let pairs = linked.forward_backward().iter().filter(|pair| is_maker[pair.backward as usize]);
    makers.extend(pairs.map(|pair| pair.forward));
    makers
}

/// The defects of the file, at the ids that elements have now.
fn warnings(trace: &Trace, trimmed: &TrimmedTrace) -> Warnings {
    let mut all = Warnings::default();
    for warning in &trace.warnings {
        let event = warning.first.event.and_then(|id| trimmed.id(u32::try_from(id).ok()?)).map(u64::from);
        all.push_many(warning.kind, warning.count, || Position { event, ..warning.first.clone() });
    }
    all
}

/// Kept events, and the kept events with links still to follow.
pub(super) struct LinkedEvents<'a> {
    linked: &'a LinkedTrace,
    /// Earlier host events stay only for their links or children.
    start: Ts,
    is_kept: Vec<bool>,
    open: Vec<u32>,
}

impl<'a> LinkedEvents<'a> {
    /// Some events.
    pub(super) fn of(linked: &'a LinkedTrace, rows: impl Iterator<Item = u32>) -> Self {
        let is_kept = vec![false; linked.trace.events.len()];
        let mut reach = Self { linked, start: Ts(i64::MIN), is_kept, open: Vec::new() };
        rows.for_each(|row| reach.keep(row));
        reach
    }

    fn new(linked: &'a LinkedTrace, range: TimeRange) -> Self {
        let events = &linked.trace.events;
        let is_inside: Vec<bool> =
            (0..events.len()).map(|row| range.overlaps(events.start.at(row), events.dur.at(row))).collect();
        let rows = (0..events.len() as u32).filter(|row| is_inside[*row as usize]);
        let mut reach = Self { start: range.start, ..Self::of(linked, rows) };
        let is_followed = |edge: &&Edge| edge.kind != EdgeKind::Node && !edge.how.is_of_capture();
        for edge in linked.edge_list().iter().filter(is_followed) {
            if is_inside[edge.source as usize] || is_inside[edge.target as usize] {
                reach.keep(edge.source);
                reach.keep(edge.target);
            }
        }
        reach
    }

    fn keep(&mut self, row: u32) {
        if !std::mem::replace(&mut self.is_kept[row as usize], true) {
            self.open.push(row);
        }
    }

    /// The events with all that they belong to.
    pub(super) fn owners(mut self) -> Vec<bool> {
        self.follow();
        self.is_kept
    }

    fn rows(mut self) -> Vec<bool> {
        self.follow();
        let linked = self.linked;
        let (trace, links) = (&linked.trace, &linked.links);
        let reports = report_witnesses(trace, links, |row| self.is_kept[row]);
        reports.into_iter().for_each(|row| self.keep(row));
        let of_streams = stream_wait_witnesses(trace, links, |row| self.is_kept[row]);
        for row in witnesses(linked, &self.is_kept).into_iter().chain(of_streams) {
            self.keep(row);
        }
        self.follow();
        self.is_kept
    }

    /// Keeps the owners of everything kept.
    fn follow(&mut self) {
        let links = &self.linked.links;
        while let Some(row) = self.open.pop() {
            let row = row as usize;
            let has_iteration =
                self.linked.trace.is_on_device(row) || self.linked.trace.events.start.at(row) >= self.start;
            let iteration = links.iteration.get(row).filter(|_| has_iteration);
            let iteration = iteration.map(|at| links.iterations[at as usize].event);
            // A kernel of a graph states its capture itself.
            let operator = links.operator.get(row).filter(|_| self.linked.captured(row).is_none());
            let owners = [links.nesting.parent.get(row), links.launch.get(row), operator, iteration];
            owners.into_iter().flatten().for_each(|owner| self.keep(owner));
        }
    }
}

/// Keeps the last work of each stream before a range and the first after it, with its launch. So
/// idle times at the ends and the stream itself stay known.
fn beside(linked: &LinkedTrace, range: TimeRange) -> Vec<usize> {
    let (trace, links) = (&linked.trace, &linked.links);
    let events = &trace.events;
    let streams = (0..trace.tracks.len()).filter(|track| trace.tracks[*track].stream.is_some());
    let beside = streams.flat_map(|track| {
        let rows = links.nesting.track_rows(track.into()).iter().map(|row| *row as usize);
        let work = rows.filter(|row| events.kind[*row].is_device_work());
        let before = work.clone().filter(|row| events.end(*row) <= range.start).max_by_key(|row| events.end(*row));
        let after = work.filter(|row| events.start.at(*row) >= range.end).min_by_key(|row| events.start.at(*row));
        [before, after]
    });
    let launch = |row: usize| links.launch.get(row).map(|launch| launch as usize);
    beside.flatten().flat_map(|row| [Some(row), launch(row)]).flatten().collect()
}

/// Keeps reports of waits (`cuda_sync`) whose call is kept, and the calls that recorded the awaited
/// events: links of waits derive from these.
fn witnesses(linked: &LinkedTrace, is_kept: &[bool]) -> Vec<u32> {
    let trace = &linked.trace;
    let (events, args) = (&trace.events, &trace.args);
    let reports = events.rows_of(|kind| kind == EventKind::Sync);
    let reports =
        reports.filter(|row| is_kept[*row] || linked.links.launch.get(*row).is_some_and(|call| is_kept[call as usize]));
    let reports: Vec<usize> = reports.collect();
    if reports.is_empty() {
        return Vec::new();
    }
    let mut calls: FxHashMap<u64, u32> = FxHashMap::default();
    for row in (0..events.len()).filter(|row| !trace.is_on_device(*row)) {
        if let (Some(id), false) = (trace.correlation_id(row), events.kind[row].is_device_work())
            && let Entry::Vacant(place) = calls.entry(id)
        {
            place.insert(row as u32);
        }
    }
    let recorded = |report: &usize| {
        let id = args.integer(&trace.strings, events.args(*report), ArgKey::RecordedBy)?;
        calls.get(&u64::try_from(id).ok()?).copied()
    };
    let recorded: Vec<u32> = reports.iter().filter_map(recorded).collect();
    reports.into_iter().map(|row| row as u32).chain(recorded).collect()
}

/// Flow ends at kept events, and flow ends without an event in the range.
fn flows(trace: &Trace, is_kept: &[bool], is_inside: impl Fn(Ts) -> bool) -> Vec<bool> {
    let events = &trace.events;
    let mut starts: FxHashMap<(TrackId, Ts), bool> = FxHashMap::default();
    for (row, is_kept) in is_kept.iter().enumerate() {
        // A flow may be of any of the events that start there: it is certain only with all of them.
        *starts.entry((events.track.at(row), events.start.at(row))).or_insert(true) &= is_kept;
    }
    let stays = |at: (TrackId, Ts)| starts.get(&at).copied().unwrap_or_else(|| is_inside(at.1));
    trace.flows.iter().map(|end| stays((end.track, end.time))).collect()
}

fn nodes(linked: &LinkedTrace, is_kept: &[bool], is_inside: impl Fn(Ts) -> bool) -> Vec<bool> {
    let (trace, links) = (&linked.trace, &linked.links.nodes);
    let event = |node: usize| links.event_of_node.get(node).map(|event| event as usize);
    let entered =
        (0..trace.nodes.len()).filter(|node| event(*node).is_some_and(|row| is_inside(trace.events.start.at(row))));
    let orders = entered.map(|node| trace.nodes[node].order());
    let span = orders.fold(None, |span: Option<(u64, u64)>, order| {
        Some(span.map_or((order, order), |(first, last)| (first.min(order), last.max(order))))
    });
    let mut stays = vec![false; trace.nodes.len()];
    for (row, node) in trace.nodes.iter().enumerate() {
        let kind = node.kind(trace.strings.text(node.name));
        let is_between = || span.is_some_and(|(first, last)| (first..=last).contains(&node.order()));
        let is_wanted = matches!(kind, NodeKind::Root | NodeKind::ProcessGroup)
            || event(row).map_or_else(is_between, |event| is_kept[event]);
        let mut open = is_wanted.then_some(row);
        while let Some(row) = open.filter(|row| !std::mem::replace(&mut stays[*row], true)) {
            open = links.parent_of_node.get(row).map(|parent| parent as usize);
        }
    }
    stays
}
