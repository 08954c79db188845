//! Links threads by their whole sequence of calls.

use super::align::{PlacePair, align};
use super::consensus::NameSequences;
use super::matched_nodes::MatchedNodes;
use super::shape::InputShapes;
use super::thread::ThreadPair;
use crate::link::link_method::LinkMethod;

/// Links of a thread, with the numbers of possible and expected calls.
#[derive(Debug, Default)]
pub(super) struct LinkedSequence {
    /// Row of the event, row of the node.
    pub(super) rows: Vec<(u32, u32)>,
    /// How many calls are found in the other file, whether or not it is certain which of several
    /// they are there.
    pub(super) num_found: u32,
    /// Of the Kineto trace and of the Execution Trace.
    pub(super) num_expected: [u32; 2],
}

/// A thread's calls fit when this share of them is found in the other file, of one file's times of
/// the other's.
///
/// Traces of different models have whole stretches in common, such as those of one layer, but not
/// this much.
pub(crate) const FIT: f32 = 0.8;

impl LinkedSequence {
    /// All threads as one.
    pub(super) fn of_all(threads: impl IntoIterator<Item = Self>) -> Self {
        threads.into_iter().fold(Self::default(), |mut all, thread| {
            all.num_found += thread.num_found;
            (0..2).for_each(|side| all.num_expected[side] += thread.num_expected[side]);
            all.rows.extend(thread.rows);
            all
        })
    }

    /// The share of one file's calls in the other, times the reverse share. Calls missing in one
    /// file lower it once; calls missing in both lower it twice.
    pub(super) fn fit(&self) -> f32 {
        let share = |num_expected: u32| self.num_found as f32 / num_expected.max(self.num_found).max(1) as f32;
        self.num_expected.map(share).iter().product()
    }
}

/// Aligns the whole of each thread.
pub(super) fn align_threads(threads: &[ThreadPair], shapes: &InputShapes<'_>) -> Vec<LinkedSequence> {
    let linked = |ThreadPair { nodes, events }: &ThreadPair| {
        let rows = |(event, node): PlacePair| (events.rows[event as usize], nodes.rows[node as usize]);
        let is_contradicted = |pair: PlacePair| {
            let (event, node) = rows(pair);
            shapes.contradict(event, node)
        };
        let names = NameSequences { a: &events.names, b: &nodes.names, is_contradicted: &is_contradicted };
        let aligned = align(&names, 0..nodes.names.len(), 0);
        LinkedSequence {
            rows: aligned.certain.into_iter().map(rows).collect(),
            num_found: aligned.num_matched,
            num_expected: [events.num_expected, nodes.num_expected],
        }
    };
    threads.iter().map(linked).collect()
}

/// Links of the threads that fit; none if those are a minority.
pub(super) fn found(threads: Vec<LinkedSequence>, how: LinkMethod) -> MatchedNodes {
    let (fitting, others): (Vec<_>, Vec<_>) = threads.into_iter().partition(|thread| thread.fit() >= FIT);
    let (fitting, others) = (LinkedSequence::of_all(fitting), LinkedSequence::of_all(others));
    if fitting.num_expected.iter().max() > others.num_expected.iter().max() {
        MatchedNodes { confidence: fitting.fit(), rows: fitting.rows, how: Some(how), ..MatchedNodes::default() }
    } else {
        MatchedNodes { confidence: LinkedSequence::of_all([fitting, others]).fit(), ..MatchedNodes::default() }
    }
}
