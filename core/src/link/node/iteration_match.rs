//! Finds the iteration of the longer recording that the shorter one matches.

use std::cmp::Reverse;
use std::ops::Range;

use rustc_hash::FxHashSet;

use super::align::{PlacePair, align};
use super::call::node_order;
use super::consensus::NameSequences;
use super::sequence::{FIT, LinkedSequence};
use super::sequence_fit::{SequenceFit, room, spans};
use super::shape::InputShapes;
use super::thread::{CallSequence, ThreadPair};
use crate::link::iteration::Iteration;
use crate::sort;
use crate::trace::Trace;
use crate::trace::iteration::iteration_number;
use crate::trace::node::Node;

/// Calls of the longer recording that the whole of the shorter one fits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IterationMatch {
    /// Its iteration: the number of the `ProfilerStep#n` that it starts in, or, without any, its
    /// place among all windows.
    pub iteration: i64,
    /// The share of the shorter recording's calls that are found in it.
    pub fit: f32,
    /// Row of its first call, on the thread that tells iterations apart: of an event, or of a node.
    pub first: u32,
    /// Row of its last call.
    pub last: u32,
    /// Whether the Kineto trace is the longer recording, and not the Execution Trace.
    pub is_of_events: bool,
    /// Whether it is the one that is linked.
    pub is_linked: bool,
}

/// Windows with at least this share of the best fit are examined closely.
const NEAR: f32 = 0.9;

/// Number of spans of another thread to compare with one of the main thread.
const MAX_NEAR: usize = 64;

/// Number of windows to report.
const MAX_REPORTED: usize = 1000;

fn reported_matches(windows: Vec<IterationMatch>) -> Vec<IterationMatch> {
    let is_reported = |(at, window): &(usize, IterationMatch)| *at < MAX_REPORTED || window.is_linked;
    windows.into_iter().enumerate().filter(is_reported).map(|(_, window)| window).collect()
}

/// How sure a choice is: half as much where another window fits as well as where all others fit a
/// tenth worse.
fn sureness(best: f32, next: f32) -> f32 {
    let ahead = (best - next) / (best * (1.0 - NEAR)).max(f32::EPSILON);
    0.5 + 0.5 * ahead.clamp(0.0, 1.0)
}

/// A window among those that fit.
#[derive(Debug, Default)]
pub(super) struct ChosenMatch {
    /// Links by thread.
    pub(super) linked: Vec<LinkedSequence>,
    pub(super) windows: Vec<IterationMatch>,
    /// How sure it is that it is this one, from 0.5 to 1.
    pub(super) sureness: f32,
}

/// The file with many iterations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum LongerRecording {
    Events,
    Nodes,
}

/// A span with its first and its last place in the longer recording, across threads.
struct PlacedFit {
    first: i128,
    last: i128,
    span: SequenceFit,
}

impl PlacedFit {
    /// Whether they have any time in common.
    fn is_meanwhile(&self, other: &Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// The recordings of which one is part of the other.
pub(super) struct RecordingPair<'a> {
    trace: &'a Trace,
    iterations: &'a [Iteration],
    threads: &'a [ThreadPair],
    shapes: &'a InputShapes<'a>,
    longer: LongerRecording,
}

impl<'a> RecordingPair<'a> {
    pub(super) fn new(
        trace: &'a Trace,
        iterations: &'a [Iteration],
        threads: &'a [ThreadPair],
        shapes: &'a InputShapes<'a>,
    ) -> Self {
        let num_events: usize = threads.iter().map(|thread| thread.events.rows.len()).sum();
        let num_nodes: usize = threads.iter().map(|thread| thread.nodes.rows.len()).sum();
        let longer = if num_events < num_nodes { LongerRecording::Nodes } else { LongerRecording::Events };
        Self { trace, iterations, threads, shapes, longer }
    }

    /// Links each thread within one window: that of the iteration that is asked for, else the first
    /// that fits best.
    pub(super) fn link(&self, iteration: Option<i64>) -> ChosenMatch {
        let spans: Vec<_> = self.threads.iter().map(|thread| self.spans(thread)).collect();
        let Some(main) = self.main(&spans) else { return ChosenMatch::default() };
        let mut windows = self.windows(&spans, main);
        let is_asked_for = |at: &usize| iteration.is_none_or(|number| windows[*at].iteration == number);
        let candidates: Vec<_> = (0..windows.len()).filter(is_asked_for).collect();
        let most = candidates.iter().map(|at| windows[*at].fit).fold(0.0, f32::max);
        let candidates = candidates.into_iter().rev().filter(|at| windows[*at].fit >= most * NEAR);
        let candidates: Vec<_> = candidates.collect();
        if self.shapes.are_known(&self.threads[main].events.rows) {
            for at in &candidates {
                windows[*at].fit = LinkedSequence::of_all(self.linked(&spans, &spans[main][*at])).fit();
            }
        }
        let Some(best) = candidates.iter().copied().max_by(|a, b| windows[*a].fit.total_cmp(&windows[*b].fit)) else {
            return ChosenMatch { windows: reported_matches(windows), ..ChosenMatch::default() };
        };
        windows[best].is_linked = true;
        let others = candidates.iter().filter(|at| **at != best && iteration.is_none());
        let next = others.map(|at| windows[*at].fit).fold(0.0, f32::max);
        let sureness = sureness(windows[best].fit, next);
        ChosenMatch { linked: self.linked(&spans, &spans[main][best]), windows: reported_matches(windows), sureness }
    }

    /// Where a thread fits best, or nearly so.
    fn spans(&self, thread: &ThreadPair) -> Vec<PlacedFit> {
        let (short, long) = self.sides(thread);
        let mut spans = spans(&short.names, &long.names);
        let most = spans.iter().map(|span| span.num_matched).max().unwrap_or(0);
        spans.retain(|span| span.num_matched as f32 >= most as f32 * NEAR);
        let placed = |span: SequenceFit| {
            let [first, last] = [span.first, span.last].map(|at| self.place(long.rows[at]));
            PlacedFit { first, last, span }
        };
        spans.into_iter().map(placed).collect()
    }

    /// The thread, among the long ones, with the most different names: of it a part is no other
    /// part. Of several, the one that fits in the fewest places.
    fn main(&self, spans: &[Vec<PlacedFit>]) -> Option<usize> {
        let len = |at: usize| self.sides(&self.threads[at]).0.names.len();
        let longest = (0..self.threads.len()).map(len).max()?;
        let long = (0..self.threads.len()).filter(|at| len(*at) * 4 >= longest && !spans[*at].is_empty());
        let num_names =
            |at: usize| self.sides(&self.threads[at]).0.names.iter().copied().collect::<FxHashSet<u32>>().len();
        long.min_by_key(|at| (Reverse(num_names(*at)), spans[*at].len()))
    }

    fn sides<'b>(&self, thread: &'b ThreadPair) -> (&'b CallSequence, &'b CallSequence) {
        match self.longer {
            LongerRecording::Events => (&thread.nodes, &thread.events),
            LongerRecording::Nodes => (&thread.events, &thread.nodes),
        }
    }

    fn windows(&self, spans: &[Vec<PlacedFit>], main: usize) -> Vec<IterationMatch> {
        let steps = self.steps();
        let num_expected: u32 = self.threads.iter().map(|thread| self.sides(thread).0.num_expected).sum();
        let rows = &self.sides(&self.threads[main]).1.rows;
        let window = |(at, placed): (usize, &PlacedFit)| {
            let before = steps.partition_point(|(place, _)| *place <= placed.first);
            let step = before.checked_sub(1).map(|step| steps[step].1);
            let matched = together(spans, placed).into_iter().flatten().map(|placed| placed.span.num_matched);
            IterationMatch {
                iteration: step.unwrap_or(at as i64),
                fit: matched.sum::<usize>() as f32 / num_expected.max(1) as f32,
                first: rows[placed.span.first],
                last: rows[placed.span.last],
                is_of_events: self.longer == LongerRecording::Events,
                is_linked: false,
            }
        };
        spans[main].iter().enumerate().map(window).collect()
    }

    /// Where each `ProfilerStep#n` of the longer recording starts, and its number.
    fn steps(&self) -> Vec<(i128, i64)> {
        if self.longer == LongerRecording::Events {
            return self.iterations.iter().map(|iteration| (i128::from(iteration.start.0), iteration.number)).collect();
        }
        let step = |(row, node): (u32, &Node)| {
            let number = iteration_number(self.trace.strings.text(node.name))?;
            Some((self.place(row), number))
        };
        let mut steps: Vec<_> = (0..).zip(&self.trace.nodes).filter_map(step).collect();
        sort::ascending(&mut steps);
        steps
    }

    /// Where a call is in the longer recording, across threads.
    fn place(&self, row: u32) -> i128 {
        match self.longer {
            LongerRecording::Events => i128::from(self.trace.events.start.at(row as usize).0),
            LongerRecording::Nodes => i128::from(node_order(&self.trace.nodes[row as usize])),
        }
    }

    /// Each thread with its part in that time, or, if that does not fit, its nearest fitting span.
    ///
    /// A span may be missing, or begin in one iteration and end in the next: where calls repeat,
    /// that fits nearly as well.
    fn linked(&self, spans: &[Vec<PlacedFit>], to: &PlacedFit) -> Vec<LinkedSequence> {
        let near = together(spans, to);
        let all = near
            .iter()
            .flatten()
            .fold((to.first, to.last), |(first, last), placed| (first.min(placed.first), last.max(placed.last)));
        let best = |(thread, placed): (&ThreadPair, Option<&PlacedFit>)| {
            let within = |places| self.linked_within(thread, self.meanwhile(thread, places), 0);
            let (short, _) = self.sides(thread);
            let of_span = placed.map(|PlacedFit { span, .. }| {
                self.linked_within(thread, span.first..span.last + 1, room(short.names.len()))
            });
            let is_better = |way: &LinkedSequence, best: &LinkedSequence| best.fit() < FIT && way.fit() > best.fit();
            let ways = of_span.into_iter().chain([within(all)]);
            ways.fold(within((to.first, to.last)), |best, way| if is_better(&way, &best) { way } else { best })
        };
        self.threads.iter().zip(near).map(best).collect()
    }

    /// The part of a thread of the longer recording between two positions.
    fn meanwhile(&self, thread: &ThreadPair, (first, last): (i128, i128)) -> Range<usize> {
        let rows = &self.sides(thread).1.rows;
        let start = rows.partition_point(|row| self.place(*row) < first);
        start..rows.partition_point(|row| self.place(*row) <= last).max(start)
    }

    fn linked_within(&self, thread: &ThreadPair, within: Range<usize>, room: usize) -> LinkedSequence {
        let (short, long) = self.sides(thread);
        let rows = |(at, to): PlacePair| {
            let (short, long) = (short.rows[at as usize], long.rows[to as usize]);
            if self.longer == LongerRecording::Events { (long, short) } else { (short, long) }
        };
        let is_contradicted = |pair: PlacePair| {
            let (event, node) = rows(pair);
            self.shapes.contradict(event, node)
        };
        let num_inside = within.clone().last().map_or(0, |last| long.num_expected_between(within.start, last));
        let names = NameSequences { a: &short.names, b: &long.names, is_contradicted: &is_contradicted };
        let aligned = align(&names, within, room);
        LinkedSequence {
            rows: aligned.certain.into_iter().map(rows).collect(),
            num_found: aligned.num_matched,
            num_expected: [short.num_expected, num_inside],
        }
    }
}

/// Of each thread's spans the nearest to one, if they have any time in common.
fn together<'a>(spans: &'a [Vec<PlacedFit>], to: &PlacedFit) -> Vec<Option<&'a PlacedFit>> {
    spans.iter().map(|spans| nearest(spans, to).filter(|placed| placed.is_meanwhile(to))).collect()
}

/// Of a thread's spans the one with which another takes up the least time: all threads are to be in
/// one iteration.
fn nearest<'a>(spans: &'a [PlacedFit], to: &PlacedFit) -> Option<&'a PlacedFit> {
    let start = spans.partition_point(|placed| placed.first < to.first).saturating_sub(1);
    let together = |placed: &&PlacedFit| {
        let time = placed.last.max(to.last) - placed.first.min(to.first);
        let distance = (placed.first + placed.last).abs_diff(to.first + to.last);
        (!placed.is_meanwhile(to), time, Reverse(placed.span.num_matched), distance)
    };
    spans[start..].iter().take(MAX_NEAR).min_by_key(together)
}
