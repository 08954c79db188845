//! Infers waits between threads: a thread that resumes waited for the operator that another thread
//! began last.

use super::op::{HostOp, OpTime};
use crate::id::TrackId;

/// For each operator, the place of the one that its group waited for. A group ends where a thread
/// does nothing for longer than `gap`. `ops` are in the order of time.
pub(super) fn waits<T: OpTime>(ops: &[HostOp<T>], gap: T) -> Vec<Option<usize>> {
    let others = OtherThreads::new(ops);
    let mut last: Vec<Option<usize>> = vec![None; others.ranks.len()];
    let mut waits: Vec<Option<usize>> = Vec::with_capacity(ops.len());
    for (at, op) in ops.iter().enumerate() {
        let before = last[op.track.index()].replace(at);
        let wait = match before {
            Some(before) if op.start - ops[before].start - ops[before].dur <= gap => waits[before],
            _ => others.latest_before(ops, op.start, op.track),
        };
        waits.push(wait);
    }
    waits
}

/// The operators of all threads, searchable for the latest one outside a thread.
struct OtherThreads {
    /// Places in the order of time; of those that start together the one that is preferred comes
    /// last.
    order: Vec<usize>,
    /// For each in `order`, the nearest before it that is of another thread.
    before: Vec<Option<usize>>,
    /// Threads in the order of first sight, by their tracks.
    ranks: Vec<usize>,
}

impl OtherThreads {
    fn new<T: OpTime>(ops: &[HostOp<T>]) -> Self {
        let num_tracks = ops.iter().map(|op| op.track.index() + 1).max().unwrap_or(0);
        let (mut ranks, mut num_seen) = (vec![usize::MAX; num_tracks], 0);
        for op in ops {
            let rank = &mut ranks[op.track.index()];
            if *rank == usize::MAX {
                *rank = num_seen;
                num_seen += 1;
            }
        }
        let mut order: Vec<usize> = (0..ops.len()).collect();
        order.sort_by(|one, other| {
            let preference = |at: &usize| (ranks[ops[*at].track.index()], *at);
            super::op::order(ops[*one].start, ops[*other].start).then(preference(other).cmp(&preference(one)))
        });
        let mut before: Vec<Option<usize>> = Vec::with_capacity(order.len());
        for at in 0..order.len() {
            let previous = at.checked_sub(1);
            let is_same = |previous: usize| ops[order[previous]].track == ops[order[at]].track;
            before
                .push(previous.and_then(|previous| if is_same(previous) { before[previous] } else { Some(previous) }));
        }
        Self { order, before, ranks }
    }

    /// The place of the latest that starts before a time, on another thread than `track`.
    fn latest_before<T: OpTime>(&self, ops: &[HostOp<T>], start: T, track: TrackId) -> Option<usize> {
        let latest = self.order.partition_point(|at| ops[*at].start < start).checked_sub(1)?;
        let is_own = ops[self.order[latest]].track == track;
        let found = if is_own { self.before[latest]? } else { latest };
        Some(self.order[found])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits_of(ops: &[(u32, i128, i128)]) -> Vec<Option<usize>> {
        let op = |(track, start, dur): &(u32, i128, i128)| HostOp {
            row: 0,
            track: TrackId(*track),
            start: *start,
            dur: *dur,
        };
        waits(&ops.iter().map(op).collect::<Vec<_>>(), 10)
    }

    #[test]
    fn a_group_waits_for_the_latest_of_another_thread() {
        let ops = [(0, 0, 5), (1, 3, 2), (0, 6, 2), (0, 30, 2), (0, 33, 1)];
        assert_eq!(waits_of(&ops), [None, Some(0), None, Some(1), Some(1)]);
    }

    #[test]
    fn of_two_that_start_together_the_first_thread_counts() {
        let ops = [(1, 0, 1), (0, 1, 1), (0, 5, 1), (1, 5, 1), (2, 9, 1)];
        assert_eq!(waits_of(&ops)[4], Some(3));
    }
}
