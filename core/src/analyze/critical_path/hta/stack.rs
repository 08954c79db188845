//! Adds the call stacks of threads to the graph.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::frame::{HtaEvent, HtaFrame};
use super::graph::HtaGraph;
use super::name_facts::NameFacts;
use crate::analyze::critical_path::graph::PathKind;
use crate::id::StrId;
use crate::sort;
use crate::trace::track::Track;

/// A process and a thread, with numbers before texts.
type ThreadKey = (Result<i64, String>, Result<i64, String>);

/// Adds the stacks of all threads, by process and thread.
pub(super) fn add(graph: &mut HtaGraph<'_>) {
    let frame = graph.frame;
    let remapped = backward_thread(frame);
    let mut threads: BTreeMap<ThreadKey, Vec<u32>> = BTreeMap::new();
    for (track, mut rows) in by_track(frame) {
        let thread = remapped.filter(|(from, _)| *from == track.thread).map_or(track.thread, |(_, to)| to);
        threads.entry((number(frame, track.process), number(frame, thread))).or_default().append(&mut rows);
    }
    for mut rows in threads.into_values() {
        if rows.iter().all(|row| frame.rows[*row as usize].stream < 0) {
            sort::ascending(&mut rows);
            CallStackWalk::new(graph).thread(&rows);
        }
    }
}

/// Selected rows by track.
fn by_track<'a>(frame: &HtaFrame<'a>) -> impl Iterator<Item = (&'a Track, Vec<u32>)> {
    let trace = frame.trace;
    let mut tracks = vec![Vec::new(); trace.tracks.len()];
    for (at, row) in frame.rows.iter().enumerate().filter(|(_, row)| row.is_looked_at()) {
        tracks[trace.events.track.at(row.event as usize).index()].push(at as u32);
    }
    trace.tracks.iter().zip(tracks).filter(|(_, rows)| !rows.is_empty())
}

fn number(frame: &HtaFrame<'_>, text: StrId) -> Result<i64, String> {
    let text = frame.trace.strings.text(text);
    text.parse().map_err(|_| text.to_owned())
}

/// The one thread of the backward pass, and the one of the forward pass that its events are put to.
fn backward_thread(frame: &HtaFrame<'_>) -> Option<(StrId, StrId)> {
    let only = |is_named: fn(NameFacts) -> bool| {
        let is_of_pass = |row: &&HtaEvent| row.is_looked_at() && row.category.tells_pass && is_named(row.name);
        let thread = |row: &HtaEvent| frame.trace.track(frame.trace.events.track.at(row.event as usize)).thread;
        let mut threads = frame.rows.iter().filter(is_of_pass).map(thread);
        let first = threads.next()?;
        threads.all(|thread| thread == first).then_some(first)
    };
    let (forward, backward) = (only(|name| name.is_forward)?, only(|name| name.is_backward)?);
    (forward != backward).then_some((backward, forward))
}

/// The start or the end of an event of a thread.
#[derive(Clone, Copy)]
struct EventBoundary {
    time: i64,
    is_end: bool,
    row: u32,
    dur: i64,
}

/// The order of boundaries at equal times.
fn of_one_time(a: &EventBoundary, b: &EventBoundary) -> Ordering {
    match (a.is_end, b.is_end) {
        _ if a.row == b.row => a.is_end.cmp(&b.is_end),
        (false, false) => b.dur.cmp(&a.dur).then(a.row.cmp(&b.row)),
        (true, true) => a.dur.cmp(&b.dur).then(b.row.cmp(&a.row)),
        _ if a.dur > 0 && b.dur > 0 => b.is_end.cmp(&a.is_end),
        _ if a.dur == 0 && b.dur == 0 => a.row.cmp(&b.row),
        _ => a.is_end.cmp(&b.is_end),
    }
}

/// A walk through the calls of a thread, in the order of a tree.
struct CallStackWalk<'a, 'b> {
    graph: &'a mut HtaGraph<'b>,
    last: Option<u32>,
    /// The parent of the event that `last` ends. HTA gives it the time until the next event
    /// starts, even if it has ended.
    parent_of_last: Option<u32>,
    /// Events around, those with nodes and those without.
    open: Vec<u32>,
    depth: usize,
}

impl<'a, 'b> CallStackWalk<'a, 'b> {
    fn new(graph: &'a mut HtaGraph<'b>) -> Self {
        Self { graph, last: None, parent_of_last: None, open: Vec::new(), depth: 0 }
    }

    /// Each event is inside the latest one that has begun and not ended.
    fn thread(mut self, rows: &[u32]) {
        for point in points(self.graph.frame, rows) {
            if point.is_end {
                self.leave();
            } else {
                self.enter(point.row);
            }
        }
    }

    fn enter(&mut self, row: u32) {
        if let Some(node) = self.graph.starts.get(row as usize) {
            if let Some(last) = self.last.filter(|last| !self.shares_lock(*last, node)) {
                self.join(last, node);
            }
            self.last = Some(node);
            self.depth += 1;
        }
        self.open.push(row);
    }

    fn join(&mut self, last: u32, node: u32) {
        let event = |row: u32| self.graph.frame.rows[row as usize].event;
        let (is_outermost, gap) = (self.depth == 0, self.graph.gap(last, node));
        let around = if self.graph.nodes[last as usize].is_start { None } else { self.parent_of_last };
        let owner = around.map_or(self.graph.row(last).event, event);
        if is_outermost {
            self.graph.edges.add(last, node, 0, PathKind::Dependency, self.graph.row(node).event);
        } else {
            self.graph.edges.add(last, node, gap, PathKind::Operator, owner);
        }
    }

    fn leave(&mut self) {
        let node = self.open.pop().and_then(|row| self.graph.ends.get(row as usize));
        let Some(node) = node else { return };
        if let Some(last) = self.last.filter(|last| !self.shares_lock(*last, node)) {
            let is_blocking = self.graph.row(node).name.is_blocking;
            let gap = if is_blocking { 0 } else { self.graph.gap(last, node) };
            self.graph.edges.add(last, node, gap, PathKind::Operator, self.graph.row(node).event);
        }
        self.last = Some(node);
        self.parent_of_last = self.open.last().copied();
        self.depth -= 1;
    }

    /// Whether two nodes are joined by the order in which the lock was taken.
    fn shares_lock(&self, source: u32, target: u32) -> bool {
        let are_locking = self.graph.row(source).name.is_locking && self.graph.row(target).name.is_locking;
        are_locking && (self.graph.nodes[source as usize].is_start || !self.graph.nodes[target as usize].is_start)
    }
}

/// Starts and ends in the order of time.
fn points(frame: &HtaFrame<'_>, rows: &[u32]) -> Vec<EventBoundary> {
    let both = |row: &u32| {
        let at = &frame.rows[*row as usize];
        let dur = at.end.saturating_sub(at.start).max(0);
        [(false, at.start), (true, at.start.saturating_add(dur))].map(|(is_end, time)| EventBoundary {
            time,
            is_end,
            row: *row,
            dur,
        })
    };
    let points: Vec<EventBoundary> = rows.iter().flat_map(both).collect();
    let times: Vec<i64> = points.iter().map(|point| point.time).collect();
    let mut points: Vec<EventBoundary> = sort::places(&times).into_iter().map(|place| points[place as usize]).collect();
    points
        .chunk_by_mut(|a, b| a.time == b.time)
        .filter(|same| same.len() > 1)
        .for_each(|same| sort::by(same, of_one_time));
    points
}
