//! Tells which slices end where the order of packets tells it.

/// Begins and ends of one writer.
///
/// Ends close the last begin of their track in the order of time. Some writers put the ends of many
/// slices behind all of their begins, in the same order, though: packets then go back in time. An
/// end that follows its begin belongs to it in any case.
#[derive(Debug, Default)]
pub(super) struct SliceRun {
    /// The begins at hand.
    begins: Vec<RunBegin>,
    /// The ends that followed, from the first one on.
    num_ends: usize,
    is_in_same_order: bool,
}

/// A slice that began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RunBegin {
    pub(super) track: u64,
    pub(super) start: i64,
    /// Its row among the events.
    pub(super) row: usize,
    is_closed: bool,
}

impl SliceRun {
    /// Adds a begin. Those before it that no end has closed go to `leave` when their ends cannot
    /// come any more.
    pub(super) fn begin(&mut self, (track, start): (u64, i64), row: usize, leave: impl FnMut(RunBegin)) {
        if self.num_ends > 0 {
            self.finish(leave);
        }
        self.begins.push(RunBegin { track, start, row, is_closed: false });
    }

    /// The slice that an end closes; `None` where time decides.
    pub(super) fn end(&mut self, track: u64, time: i64) -> Option<RunBegin> {
        if self.num_ends == 0 {
            let goes_back = self.begins.last().is_some_and(|last| time < last.start);
            self.is_in_same_order = goes_back || self.begins.len() == 1;
        }
        let begin = self.begins.get_mut(self.num_ends);
        self.num_ends += 1;
        let begin = begin.filter(|begin| self.is_in_same_order && begin.track == track && begin.start <= time)?;
        begin.is_closed = true;
        Some(*begin)
    }

    /// Gives the begins that no end has closed to `leave`.
    pub(super) fn finish(&mut self, leave: impl FnMut(RunBegin)) {
        self.num_ends = 0;
        self.begins.drain(..).filter(|begin| !begin.is_closed).for_each(leave);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lengths that the ends of a run of slices tell, and rows whose ends it does not.
    fn lengths(marks: &[(char, u64, i64)]) -> (Vec<Option<i64>>, Vec<usize>) {
        let mut run = SliceRun::default();
        let (mut found, mut left) = (Vec::new(), Vec::new());
        for (row, (mark, track, time)) in marks.iter().enumerate() {
            match mark {
                'B' => run.begin((*track, *time), row, |begin| left.push(begin.row)),
                _ => found.push(run.end(*track, *time).map(|begin| time - begin.start)),
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
