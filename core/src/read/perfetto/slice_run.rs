//! Tells which slices end where the order of packets tells it.

use crate::column::Times;
use crate::read::recent_map::RecentMap;

/// Begins and ends of one writer.
///
/// Ends close the last begin of their track in the order of time. Some writers put the ends of many
/// slices behind all of their begins, in the same order, though: packets then go back in time. An
/// end that follows its begin belongs to it in any case.
#[derive(Debug, Default)]
pub(super) struct SliceRun {
    /// The begins at hand.
    begins: Vec<OpenBegin>,
    /// Their tracks.
    tracks: RecentMap<u64, u64>,
    /// The ends that followed, from the first one on.
    num_ends: usize,
    is_in_same_order: bool,
}

/// A slice that began; of its row and its track four bytes each, as there may be millions.
#[derive(Debug, Clone, Copy)]
struct OpenBegin {
    /// Its row among the events.
    row: u32,
    /// Place of its track; none once an end has closed it.
    track: u32,
}

const CLOSED: u32 = u32::MAX;

/// A slice that began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RunBegin {
    pub(super) track: u64,
    /// Its row among the events.
    pub(super) row: usize,
}

impl SliceRun {
    /// Adds a begin. Those before it that no end has closed go to `leave` when their ends cannot
    /// come any more.
    pub(super) fn begin(&mut self, track: u64, row: usize, leave: impl FnMut(RunBegin)) {
        if self.num_ends > 0 {
            self.finish(leave);
        }
        let place = self.tracks.place(track, || track);
        self.begins.push(OpenBegin { row: row as u32, track: place as u32 });
    }

    /// The slice that an end closes, by the starts of all rows; `None` where time decides.
    pub(super) fn end(&mut self, track: u64, time: i64, starts: &Times) -> Option<RunBegin> {
        let start = |begin: &OpenBegin| starts.get(begin.row as usize).map(|start| start.0);
        if self.num_ends == 0 {
            self.is_in_same_order = self.begins.len() == 1 || self.begins.last().and_then(start) > Some(time);
        }
        let begin = self.begins.get_mut(self.num_ends);
        self.num_ends += 1;
        let is_before = |begin: &OpenBegin| start(begin).is_some_and(|start| start <= time);
        let is_its = |begin: &OpenBegin| self.tracks.get(begin.track as usize) == Some(&track) && is_before(begin);
        let begin = begin.filter(|begin| self.is_in_same_order && is_its(begin))?;
        begin.track = CLOSED;
        Some(RunBegin { track, row: begin.row as usize })
    }

    /// Gives the begins that no end has closed to `leave`.
    pub(super) fn finish(&mut self, mut leave: impl FnMut(RunBegin)) {
        self.num_ends = 0;
        for OpenBegin { row, track } in self.begins.drain(..) {
            if let Some(track) = self.tracks.get(track as usize) {
                leave(RunBegin { track: *track, row: row as usize });
            }
        }
        self.tracks.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Ts;

    /// Lengths that the ends of a run of slices tell, and rows whose ends it does not.
    fn lengths(marks: &[(char, u64, i64)]) -> (Vec<Option<i64>>, Vec<usize>) {
        let mut run = SliceRun::default();
        let (mut found, mut left) = (Vec::new(), Vec::new());
        let starts: Times = marks.iter().map(|(.., time)| Ts(*time)).collect();
        for (row, (mark, track, time)) in marks.iter().enumerate() {
            match mark {
                'B' => run.begin(*track, row, |begin| left.push(begin.row)),
                _ => found.push(run.end(*track, *time, &starts).map(|begin| time - starts.at(begin.row).0)),
            }
        }
        run.finish(|begin| left.push(begin.row));
        (found, left)
    }

    #[test]
    fn ends_behind_all_begins_are_in_their_order() {
        let run = [('B', 1, 0), ('B', 1, 5), ('B', 2, 6), ('E', 1, 5), ('E', 1, 8), ('E', 2, 6)];
        assert_eq!(lengths(&run), (vec![Some(5), Some(3), Some(0)], vec![]));
        let pairs = [('B', 1, 0), ('E', 1, 9), ('B', 1, 5), ('E', 1, 12), ('B', 1, 13)];
        assert_eq!(lengths(&pairs), (vec![Some(9), Some(7)], vec![4]));
    }

    #[test]
    fn nested_slices_in_the_order_of_time_are_left_to_it() {
        let nested = [('B', 1, 0), ('B', 1, 2), ('E', 1, 5), ('E', 1, 10), ('E', 1, 11)];
        assert_eq!(lengths(&nested), (vec![None, None, None], vec![0, 1]));
    }
}
