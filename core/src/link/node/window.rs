//! Which iteration of the longer recording the shorter one is.

use super::align::align;
use super::node_order;
use super::sequence::Linked;
use super::shape::Shapes;
use super::span::{Span, spans};
use super::thread::{Sequence, Thread};
use crate::trace::Trace;

/// Calls of the longer recording that the whole of the shorter one fits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Its iteration: the number of the `ProfilerStep#n` that it starts in, or, without any, its place among all windows.
    pub iteration: i64,
    /// The share of the shorter recording's calls that are found in it, on the thread of the most calls.
    pub fit: f32,
    /// Row of its first call: of an event, or of a node.
    pub first: u32,
    /// Row of its last call.
    pub last: u32,
    /// Whether the Kineto trace is the longer recording, and not the Execution Trace.
    pub is_of_events: bool,
    /// Whether it is the one that is linked.
    pub is_linked: bool,
}

/// Which of the files has many iterations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Longer {
    Events,
    Nodes,
}

/// The recordings of which one is part of the other.
pub(super) struct Recordings<'a> {
    trace: &'a Trace,
    threads: &'a [Thread],
    shapes: &'a Shapes<'a>,
    longer: Longer,
}

impl<'a> Recordings<'a> {
    pub(super) fn new(trace: &'a Trace, threads: &'a [Thread], shapes: &'a Shapes<'a>) -> Self {
        let num_events: usize = threads.iter().map(|thread| thread.events.rows.len()).sum();
        let num_nodes: usize = threads.iter().map(|thread| thread.nodes.rows.len()).sum();
        Self { trace, threads, shapes, longer: if num_events < num_nodes { Longer::Nodes } else { Longer::Events } }
    }

    /// Links each thread within one window: the one of the iteration that is asked for, else the first that fits best.
    pub(super) fn link(&self, iteration: Option<i64>) -> (Vec<Linked>, Vec<Window>) {
        let Some(main) = self.threads.first() else { return <_>::default() };
        let spans = self.spans(main);
        let mut windows = self.windows(main, &spans);
        let is_asked_for = |window: &Window| iteration.is_none_or(|number| window.iteration == number);
        let candidates = (0..spans.len()).rev().filter(|at| is_asked_for(&windows[*at]));
        let candidates = near_best(candidates, |at| spans[*at].num_matched);
        if self.shapes.are_known(&main.events.rows) {
            for at in &candidates {
                windows[*at].fit = self.linked(main, Some(&spans[*at])).fit();
            }
        }
        let best = candidates.into_iter().max_by(|a, b| windows[*a].fit.total_cmp(&windows[*b].fit));
        let Some(chosen) = best else { return (Vec::new(), windows) };
        windows[chosen].is_linked = true;
        let middle = self.middle(main, &spans[chosen]);
        let mut linked = vec![self.linked(main, Some(&spans[chosen]))];
        for thread in &self.threads[1..] {
            let spans = self.spans(thread);
            // All threads are to be in one iteration, so a nearer window wins over one that fits a little better.
            let fitting = near_best(spans.iter(), |span| span.num_matched).into_iter();
            let nearest = fitting.min_by_key(|span| self.middle(thread, span).abs_diff(middle));
            linked.push(self.linked(thread, nearest));
        }
        (linked, windows)
    }

    fn spans(&self, thread: &Thread) -> Vec<Span> {
        let (short, long) = self.sides(thread);
        spans(&short.names, &long.names)
    }

    fn sides<'b>(&self, thread: &'b Thread) -> (&'b Sequence, &'b Sequence) {
        match self.longer {
            Longer::Events => (&thread.nodes, &thread.events),
            Longer::Nodes => (&thread.events, &thread.nodes),
        }
    }

    fn windows(&self, main: &Thread, spans: &[Span]) -> Vec<Window> {
        let (short, long) = self.sides(main);
        let steps = self.steps();
        let window = |(at, span): (usize, &Span)| {
            let before = steps.partition_point(|(place, _)| *place <= self.place(long.rows[span.first]));
            let step = before.checked_sub(1).map(|step| steps[step].1);
            Window {
                iteration: step.unwrap_or(at as i64),
                fit: span.num_matched as f32 / short.num_expected.max(1) as f32,
                first: long.rows[span.first],
                last: long.rows[span.last],
                is_of_events: self.longer == Longer::Events,
                is_linked: false,
            }
        };
        spans.iter().enumerate().map(window).collect()
    }

    /// Where each `ProfilerStep#n` of the longer recording starts, and its number.
    fn steps(&self) -> Vec<(i128, i64)> {
        let (events, nodes) = (&self.trace.events, &self.trace.nodes);
        let num_rows = if self.longer == Longer::Events { events.len() } else { nodes.len() };
        let name = |row: usize| if self.longer == Longer::Events { events.name[row] } else { nodes[row].name };
        let step = |row| {
            let number = self.trace.strings.text(name(row)).strip_prefix("ProfilerStep#")?.parse().ok()?;
            Some((self.place(row as u32), number))
        };
        let mut steps: Vec<_> = (0..num_rows).filter_map(step).collect();
        steps.sort_unstable();
        steps
    }

    /// Where a call is in the longer recording, across threads.
    fn place(&self, row: u32) -> i128 {
        match self.longer {
            Longer::Events => i128::from(self.trace.events.start[row as usize].0),
            Longer::Nodes => i128::from(node_order(&self.trace.nodes[row as usize])),
        }
    }

    fn middle(&self, thread: &Thread, span: &Span) -> i128 {
        let rows = &self.sides(thread).1.rows;
        i128::midpoint(self.place(rows[span.first]), self.place(rows[span.last]))
    }

    fn linked(&self, thread: &Thread, span: Option<&Span>) -> Linked {
        let (short, long) = self.sides(thread);
        let Some(span) = span else { return Linked { num_expected: short.num_expected, ..Linked::default() } };
        let row = |(at, to): (u32, u32)| {
            let (short, long) = (short.rows[at as usize], long.rows[span.first + to as usize]);
            if self.longer == Longer::Events { (long, short) } else { (short, long) }
        };
        let pairs = align(&short.names, &long.names[span.first..=span.last]);
        let num_inside = long.num_expected_between(span.first, span.last);
        Linked::new(pairs.into_iter().map(row), short.num_expected.max(num_inside), self.shapes)
    }
}

/// Those of which at least nine tenths of the most names are the same.
fn near_best<T>(all: impl Iterator<Item = T> + Clone, num_matched: impl Fn(&T) -> usize) -> Vec<T> {
    let most = all.clone().map(|one| num_matched(&one)).max().unwrap_or(0);
    all.filter(|one| num_matched(one) * 10 >= most * 9).collect()
}
