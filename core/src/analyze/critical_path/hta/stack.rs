//! Call stacks: what each thread did one after another.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::Graph;
use super::frame::Frame;
use crate::analyze::critical_path::graph::PathKind;
use crate::id::{OptionalColumn, StrId};
use crate::sort;

/// A process and a thread, with numbers before texts.
type Key = (Result<i64, String>, Result<i64, String>);

/// Adds the stacks of all threads, by process and thread.
pub(super) fn add(graph: &mut Graph<'_>) {
    let frame = graph.frame;
    let remapped = backward_thread(frame);
    let mut threads: BTreeMap<Key, Vec<u32>> = BTreeMap::new();
    for at in (0..frame.rows.len()).filter(|at| frame.rows[*at].is_looked_at()) {
        let track = frame.trace.track(frame.trace.events.track[frame.rows[at].event as usize]);
        let thread = remapped.filter(|(from, _)| *from == track.thread).map_or(track.thread, |(_, to)| to);
        threads.entry((number(frame, track.process), number(frame, thread))).or_default().push(at as u32);
    }
    for rows in threads.into_values() {
        if rows.iter().all(|row| frame.rows[*row as usize].stream < 0) {
            Walk::new(graph).thread(&rows);
        }
    }
}

fn number(frame: &Frame<'_>, text: StrId) -> Result<i64, String> {
    let text = frame.trace.strings.text(text);
    text.parse().map_err(|_| text.to_owned())
}

/// The one thread of the backward pass, and the one of the forward pass that its events are put to.
fn backward_thread(frame: &Frame<'_>) -> Option<(StrId, StrId)> {
    let threads = |word: &str| {
        let is_named = |at: &usize| {
            let event = frame.rows[*at].event as usize;
            let category = frame.trace.strings.text(frame.trace.events.category[event]);
            frame.rows[*at].is_looked_at()
                && matches!(category, "cpu_op" | "user_annotation")
                && frame.name(*at).contains(word)
        };
        let thread = |at: usize| frame.trace.track(frame.trace.events.track[frame.rows[at].event as usize]).thread;
        let found: FxHashSet<StrId> = (0..frame.rows.len()).filter(is_named).map(thread).collect();
        let mut found = found.into_iter();
        found.next().filter(|_| found.next().is_none())
    };
    let (forward, backward) = (threads("forward")?, threads("autograd")?);
    (forward != backward).then_some((backward, forward))
}

/// The start or the end of an event of a thread.
#[derive(Clone, Copy)]
struct Point {
    time: i64,
    is_end: bool,
    row: u32,
    dur: i64,
}

fn compare(a: &Point, b: &Point) -> Ordering {
    if a.row == b.row {
        return a.is_end.cmp(&b.is_end);
    }
    let of_one_time = || match (a.is_end, b.is_end) {
        (false, false) => b.dur.cmp(&a.dur).then(a.row.cmp(&b.row)),
        (true, true) => a.dur.cmp(&b.dur).then(b.row.cmp(&a.row)),
        _ if a.dur > 0 && b.dur > 0 => b.is_end.cmp(&a.is_end),
        _ if a.dur == 0 && b.dur == 0 => a.row.cmp(&b.row),
        _ => a.is_end.cmp(&b.is_end),
    };
    a.time.cmp(&b.time).then_with(of_one_time)
}

/// A walk through the calls of a thread, in the order of a tree.
struct Walk<'a, 'b> {
    graph: &'a mut Graph<'b>,
    last: Option<u32>,
    /// Events around, those with nodes and those without.
    open: Vec<u32>,
    depth: usize,
}

impl<'a, 'b> Walk<'a, 'b> {
    fn new(graph: &'a mut Graph<'b>) -> Self {
        Self { graph, last: None, open: Vec::new(), depth: 0 }
    }

    fn thread(mut self, rows: &[u32]) {
        let calls = Calls::of(self.graph.frame, rows);
        let mut next = calls.first_child.get(calls.root());
        let mut at = calls.root();
        loop {
            if let Some(call) = next {
                at = call as usize;
                self.enter(calls.rows[at]);
                next = calls.first_child.get(at);
            } else if at == calls.root() {
                break;
            } else {
                self.leave(calls.rows[at]);
                next = calls.sibling.get(at);
                at = calls.parent[at] as usize;
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
        let around = if self.graph.nodes[last as usize].is_start { None } else { self.open.last().copied() };
        let owner = around.map_or(self.graph.row(last).event, event);
        if is_outermost {
            self.graph.edges.add(last, node, 0, PathKind::Dependency, self.graph.row(node).event);
        } else {
            self.graph.edges.add(last, node, gap, PathKind::Operator, owner);
        }
    }

    fn leave(&mut self, row: u32) {
        self.open.pop();
        let Some(node) = self.graph.ends.get(row as usize) else { return };
        if let Some(last) = self.last.filter(|last| !self.shares_lock(*last, node)) {
            let is_blocking = self.graph.row(node).is_blocking;
            let gap = if is_blocking { 0 } else { self.graph.gap(last, node) };
            self.graph.edges.add(last, node, gap, PathKind::Operator, self.graph.row(node).event);
        }
        self.last = Some(node);
        self.depth -= 1;
    }

    /// Whether two nodes are joined by the order in which the lock was taken.
    fn shares_lock(&self, source: u32, target: u32) -> bool {
        let are_locking = self.graph.row(source).is_locking && self.graph.row(target).is_locking;
        are_locking && (self.graph.nodes[source as usize].is_start || !self.graph.nodes[target as usize].is_start)
    }
}

/// The calls of a thread as a tree: each is inside of what had begun last and not ended.
struct Calls {
    /// Rows by their place; the root is after the last.
    rows: Vec<u32>,
    parent: Vec<u32>,
    first_child: OptionalColumn,
    sibling: OptionalColumn,
}

impl Calls {
    fn of(frame: &Frame<'_>, rows: &[u32]) -> Self {
        let root = rows.len();
        let mut calls = Self {
            rows: Vec::with_capacity(root),
            parent: Vec::with_capacity(root),
            first_child: OptionalColumn::empty(root + 1),
            sibling: OptionalColumn::empty(root + 1),
        };
        let (mut open, mut last_child) = (vec![root as u32], OptionalColumn::empty(root + 1));
        for point in points(frame, rows) {
            if point.is_end {
                open.pop();
                continue;
            }
            let (call, parent) = (calls.rows.len() as u32, open.last().copied().unwrap_or(root as u32));
            match last_child.get(parent as usize) {
                Some(before) => calls.sibling.set(before as usize, call),
                None => calls.first_child.set(parent as usize, call),
            }
            last_child.set(parent as usize, call);
            calls.rows.push(point.row);
            calls.parent.push(parent);
            open.push(call);
        }
        calls
    }

    fn root(&self) -> usize {
        self.rows.len()
    }
}

fn points(frame: &Frame<'_>, rows: &[u32]) -> Vec<Point> {
    let both = |row: &u32| {
        let at = &frame.rows[*row as usize];
        let dur = at.end.saturating_sub(at.start).max(0);
        [(false, at.start), (true, at.start.saturating_add(dur))].map(|(is_end, time)| Point {
            time,
            is_end,
            row: *row,
            dur,
        })
    };
    let mut points: Vec<Point> = rows.iter().flat_map(both).collect();
    sort::by(&mut points, compare);
    points
}
