//! Threads whose calls are the same from one end to the other.

use super::Found;
use super::align::align;
use super::shape::Shapes;
use super::thread::Thread;
use crate::link::How;

/// What is linked on a thread, and how many calls should have been.
#[derive(Debug, Default)]
pub(super) struct Linked {
    /// Row of the event, row of the node.
    pub(super) rows: Vec<(u32, u32)>,
    pub(super) num_expected: u32,
}

/// A thread's calls fit when this share of them is found in the other file.
///
/// Traces of different models have whole stretches in common, such as those of one layer, but not this much.
pub(in crate::link) const FIT: f32 = 0.8;

impl Linked {
    /// Leaves out what is of the same name, but of other shapes.
    pub(super) fn new(rows: impl Iterator<Item = (u32, u32)>, num_expected: u32, shapes: &Shapes<'_>) -> Self {
        Self { rows: rows.filter(|(event, node)| !shapes.contradict(*event, *node)).collect(), num_expected }
    }

    /// All threads as one.
    pub(super) fn of_all(threads: impl IntoIterator<Item = Self>) -> Self {
        threads.into_iter().fold(Self::default(), |mut all, thread| {
            all.num_expected += thread.num_expected;
            all.rows.extend(thread.rows);
            all
        })
    }

    pub(super) fn fit(&self) -> f32 {
        self.rows.len() as f32 / self.num_expected.max(1) as f32
    }
}

/// Aligns the whole of each thread.
pub(super) fn align_threads(threads: &[Thread], shapes: &Shapes<'_>) -> Vec<Linked> {
    let linked = |Thread { nodes, events }: &Thread| {
        let pairs = align(&events.names, &nodes.names);
        let rows = pairs.iter().map(|(event, node)| (events.rows[*event as usize], nodes.rows[*node as usize]));
        Linked::new(rows, nodes.num_expected.max(events.num_expected), shapes)
    };
    threads.iter().map(linked).collect()
}

/// The links of the threads that fit; none when those are not most of what there is.
pub(super) fn found(threads: Vec<Linked>, how: How) -> Found {
    let (fitting, others): (Vec<_>, Vec<_>) = threads.into_iter().partition(|thread| thread.fit() >= FIT);
    let (fitting, others) = (Linked::of_all(fitting), Linked::of_all(others));
    if fitting.num_expected > others.num_expected {
        Found { confidence: fitting.fit(), rows: fitting.rows, how: Some(how), ..Found::default() }
    } else {
        Found { confidence: Linked::of_all([fitting, others]).fit(), ..Found::default() }
    }
}
