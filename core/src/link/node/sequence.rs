//! Threads whose calls are the same from one end to the other.

use super::Found;
use super::align::{Pair, align};
use super::certain::Names;
use super::shape::Shapes;
use super::thread::Thread;
use crate::link::How;

/// What is linked on a thread, how many calls could be, and how many calls should have been.
#[derive(Debug, Default)]
pub(super) struct Linked {
    /// Row of the event, row of the node.
    pub(super) rows: Vec<(u32, u32)>,
    /// How many calls are found in the other file, whether or not it is certain which of several they are there.
    pub(super) num_found: u32,
    /// Of the Kineto trace and of the Execution Trace.
    pub(super) num_expected: [u32; 2],
}

/// A thread's calls fit when this share of them is found in the other file, of one file's times of the other's.
///
/// Traces of different models have whole stretches in common, such as those of one layer, but not this much.
pub(in crate::link) const FIT: f32 = 0.8;

impl Linked {
    /// All threads as one.
    pub(super) fn of_all(threads: impl IntoIterator<Item = Self>) -> Self {
        threads.into_iter().fold(Self::default(), |mut all, thread| {
            all.num_found += thread.num_found;
            (0..2).for_each(|side| all.num_expected[side] += thread.num_expected[side]);
            all.rows.extend(thread.rows);
            all
        })
    }

    /// The share of one file's calls that the other has, times the share of the other's that it has: what one file lacks
    /// lowers it once, what each has without the other twice.
    pub(super) fn fit(&self) -> f32 {
        let share = |num_expected: u32| self.num_found as f32 / num_expected.max(self.num_found).max(1) as f32;
        self.num_expected.map(share).iter().product()
    }
}

/// Aligns the whole of each thread.
pub(super) fn align_threads(threads: &[Thread], shapes: &Shapes<'_>) -> Vec<Linked> {
    let linked = |Thread { nodes, events }: &Thread| {
        let rows = |(event, node): Pair| (events.rows[event as usize], nodes.rows[node as usize]);
        let is_contradicted = |pair: Pair| {
            let (event, node) = rows(pair);
            shapes.contradict(event, node)
        };
        let names = Names { a: &events.names, b: &nodes.names, is_contradicted: &is_contradicted };
        let aligned = align(&names, 0..nodes.names.len(), 0);
        Linked {
            rows: aligned.certain.into_iter().map(rows).collect(),
            num_found: aligned.num_matched,
            num_expected: [events.num_expected, nodes.num_expected],
        }
    };
    threads.iter().map(linked).collect()
}

/// The links of the threads that fit; none when those are not most of what there is.
pub(super) fn found(threads: Vec<Linked>, how: How) -> Found {
    let (fitting, others): (Vec<_>, Vec<_>) = threads.into_iter().partition(|thread| thread.fit() >= FIT);
    let (fitting, others) = (Linked::of_all(fitting), Linked::of_all(others));
    if fitting.num_expected.iter().max() > others.num_expected.iter().max() {
        Found { confidence: fitting.fit(), rows: fitting.rows, how: Some(how), ..Found::default() }
    } else {
        Found { confidence: Linked::of_all([fitting, others]).fit(), ..Found::default() }
    }
}
