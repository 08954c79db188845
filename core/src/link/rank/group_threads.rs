//! Checks inferred groups by the threads of a backend: gloo runs each group on threads of its own.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::id::TrackId;

/// So many threads gloo gives a group.
const MAX_THREADS: usize = 2;

/// A rank, as its place among those that are compared, and a thread of it.
type RankThread = (usize, TrackId);

/// A communication of all members of a group.
#[derive(Debug, Clone, Default)]
pub(super) struct InferredMeeting {
    /// The row of each rank, with the threads on which it ran.
    pub(super) rows: Vec<(usize, u32, Vec<TrackId>)>,
    /// Whether it can be of no smaller group on some rank.
    pub(super) is_certain: bool,
}

/// How sure the group of a communication is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GroupDoubt {
    /// It is of another group, because this one has its threads already.
    Other,
    /// Several groups may be it.
    Ambiguous,
}

/// The communications of a group that its threads raise doubts about, by their places.
///
/// Communications that share threads, on any rank, are of one group. If there are more threads than
/// a group has, those apart from communications that are certain are of other groups.
pub(super) fn doubts(meetings: &[InferredMeeting]) -> Vec<(usize, GroupDoubt)> {
    let threads = threads(meetings);
    if most_threads(threads.keys().copied()) <= MAX_THREADS {
        return Vec::new();
    }
    let clusters = clusters(meetings, &threads);
    let is_certain = |at: &usize| meetings[*at].is_certain;
    let mut certain = BTreeSet::new();
    let mut doubtful = Vec::new();
    for places in clusters {
        if places.iter().any(is_certain) {
            certain.extend(places.iter().flat_map(|at| run_threads(&meetings[*at])));
        } else {
            doubtful.extend(places);
        }
    }
    let has_all = most_threads(certain.into_iter()) >= MAX_THREADS;
    let doubt = if has_all { GroupDoubt::Other } else { GroupDoubt::Ambiguous };
    doubtful.into_iter().map(|at| (at, doubt)).collect()
}

fn run_threads(meeting: &InferredMeeting) -> impl Iterator<Item = RankThread> + '_ {
    meeting.rows.iter().flat_map(|(rank, _, threads)| threads.iter().map(|thread| (*rank, *thread)))
}

/// Numbers of all threads on which the communications ran.
fn threads(meetings: &[InferredMeeting]) -> FxHashMap<RankThread, usize> {
    let mut found = FxHashMap::default();
    for thread in meetings.iter().flat_map(run_threads) {
        let next = found.len();
        found.entry(thread).or_insert(next);
    }
    found
}

/// The most threads that a rank has of these.
fn most_threads(threads: impl Iterator<Item = RankThread>) -> usize {
    let mut of_rank: FxHashMap<usize, usize> = FxHashMap::default();
    threads.for_each(|(rank, _)| *of_rank.entry(rank).or_default() += 1);
    of_rank.into_values().max().unwrap_or(0)
}

/// Communications that threads connect, directly or through others. Those without known threads are
/// in none.
fn clusters(meetings: &[InferredMeeting], threads: &FxHashMap<RankThread, usize>) -> Vec<Vec<usize>> {
    let mut leader: Vec<usize> = (0..threads.len()).collect();
    for meeting in meetings {
        let mut numbers = run_threads(meeting).map(|thread| threads[&thread]);
        let Some(first) = numbers.next() else { continue };
        for other in numbers {
            let [one, other] = [first, other].map(|at| find(&mut leader, at));
            leader[one.max(other)] = one.min(other);
        }
    }
    let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, meeting) in meetings.iter().enumerate() {
        if let Some(thread) = run_threads(meeting).next() {
            found.entry(find(&mut leader, threads[&thread])).or_default().push(at);
        }
    }
    found.into_values().collect()
}

/// The first of those that are connected.
fn find(leader: &mut [usize], mut at: usize) -> usize {
    while leader[at] != at {
        leader[at] = leader[leader[at]];
        at = leader[at];
    }
    at
}
