//! Computes exclusive durations of operators.

use super::op::{HostOp, OpTime, order};

/// The time of each in which it is the innermost; `ops` are in the order of time, and the result is
/// in theirs.
///
/// A child that ends after its parent, as whole microseconds allow, takes only its part of the
/// parent's time.
pub(super) fn exclusive(ops: &[HostOp<i128>]) -> Vec<i128> {
    let mut own = vec![0; ops.len()];
    let shorter = |one: i128, other: i128| other.cmp(&one);
    for track in by_track(ops, shorter) {
        let mut open: Vec<usize> = Vec::new();
        let mut now = i128::MIN;
        for next in track.iter().copied().map(Some).chain([None]) {
            let start = next.map_or(i128::MAX, |at| ops[at].start);
            while let Some(&innermost) = open.last() {
                let until = ops[innermost].end().min(start);
                if until > now {
                    own[innermost] += until - now;
                    now = until;
                }
                if ops[innermost].end() > start {
                    break;
                }
                open.pop();
            }
            now = start;
            open.extend(next);
        }
    }
    own
}

/// As in `chakra_trace_link`: subtracts events wholly inside that start later, or start equally and
/// are longer, or are equal and come later. So a child that starts with its parent is not
/// subtracted.
pub(super) fn exclusive_like_chakra(ops: &[HostOp<f64>]) -> Vec<f64> {
    let mut own: Vec<f64> = ops.iter().map(|op| op.dur).collect();
    for track in by_track(ops, order) {
        // Those that may hold more, with the interval of their children that is being put together.
        let mut open: Vec<(usize, Option<(f64, f64)>)> = Vec::new();
        let mut close = |(at, inside): (usize, Option<(f64, f64)>)| {
            if let Some((start, end)) = inside {
                own[at] -= end - start;
            }
        };
        for at in track {
            let op = &ops[at];
            open.retain(|entry| {
                let is_over = ops[entry.0].end() < op.start;
                if is_over {
                    close(*entry);
                }
                !is_over
            });
            for (outer, inside) in &mut open {
                if op.end() > ops[*outer].end() {
                    continue;
                }
                *inside = match *inside {
                    Some((start, end)) if op.start <= end => Some((start, end.max(op.end()))),
                    before => {
                        close((*outer, before));
                        Some((op.start, op.end()))
                    }
                };
            }
            open.push((at, None));
        }
        open.into_iter().for_each(close);
    }
    own.into_iter().map(|time| time.max(0.0)).collect()
}

/// Places of the operators of each track, in the order of time, those that start together ordered
/// by duration.
fn by_track<T: OpTime>(
    ops: &[HostOp<T>],
    durs: impl Fn(T, T) -> std::cmp::Ordering,
) -> impl Iterator<Item = Vec<usize>> {
    let num_tracks = ops.iter().map(|op| op.track.index() + 1).max().unwrap_or(0);
    let mut tracks = vec![Vec::new(); num_tracks];
    for (at, op) in ops.iter().enumerate() {
        tracks[op.track.index()].push(at);
    }
    for track in &mut tracks {
        track.sort_by(|one: &usize, other: &usize| {
            let (one, other) = (&ops[*one], &ops[*other]);
            order(one.start, other.start).then_with(|| durs(one.dur, other.dur))
        });
    }
    tracks.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::TrackId;

    fn ops<T: OpTime>(times: &[(T, T)]) -> Vec<HostOp<T>> {
        let op = |(start, dur): &(T, T)| HostOp { row: 0, track: TrackId(0), start: *start, dur: *dur };
        times.iter().map(op).collect()
    }

    #[test]
    fn time_belongs_to_the_innermost() {
        assert_eq!(exclusive(&ops(&[(0, 10), (1, 3), (2, 1), (5, 4)])), [3, 2, 1, 4]);
    }

    #[test]
    fn a_child_may_start_with_its_parent_or_outlast_it() {
        assert_eq!(exclusive(&ops(&[(0, 4), (0, 10)])), [4, 6]);
        assert_eq!(exclusive(&ops(&[(0, 10), (6, 5)])), [6, 5]);
        assert_eq!(exclusive(&ops(&[(0, 2), (0, 2)])), [0, 2]);
    }

    #[test]
    fn chakra_takes_off_what_is_wholly_inside_and_later() {
        assert_eq!(
            exclusive_like_chakra(&ops(&[(0.0, 10.0), (1.0, 3.0), (2.0, 1.0), (5.0, 4.0)])),
            [3.0, 2.0, 1.0, 4.0]
        );
        assert_eq!(exclusive_like_chakra(&ops(&[(0.0, 4.0), (0.0, 10.0)])), [4.0, 10.0]);
        assert_eq!(exclusive_like_chakra(&ops(&[(0.0, 10.0), (6.0, 5.0)])), [10.0, 5.0]);
        assert_eq!(exclusive_like_chakra(&ops(&[(0.0, 10.0), (1.0, 4.0), (3.0, 4.0)])), [4.0, 4.0, 4.0]);
    }
}
