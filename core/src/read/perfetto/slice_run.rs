//! Tells how long slices lasted where the order of packets tells it.

/// Begins and ends of one writer.
///
/// Ends close the last begin of their track in the order of time. Some writers put the ends of many
/// slices behind all of their begins, in the same order, though: packets then go back in time. An
/// end that follows its begin belongs to it in any case.
#[derive(Debug, Default)]
pub(super) struct SliceRun {
    /// Track and time of the begins at hand.
    begins: Vec<(u64, i64)>,
    /// The ends that followed, from the first one on.
    num_ends: usize,
    is_in_same_order: bool,
}

impl SliceRun {
    pub(super) fn begin(&mut self, track: u64, time: i64) {
        if self.num_ends > 0 {
            self.begins.clear();
            self.num_ends = 0;
        }
        self.begins.push((track, time));
    }

    /// Length of the slice that an end closes; `None` where time decides.
    pub(super) fn end(&mut self, track: u64, time: i64) -> Option<i64> {
        if self.num_ends == 0 {
            let goes_back = self.begins.last().is_some_and(|(_, last)| time < *last);
            self.is_in_same_order = goes_back || self.begins.len() == 1;
        }
        let begin = self.begins.get(self.num_ends).copied();
        self.num_ends += 1;
        let (_, start) = begin.filter(|(of, start)| *of == track && *start <= time)?;
        self.is_in_same_order.then(|| time.saturating_sub(start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lengths that the ends of a run of slices have.
    fn lengths(marks: &[(char, u64, i64)]) -> Vec<Option<i64>> {
        let mut run = SliceRun::default();
        let mut found = Vec::new();
        for (mark, track, time) in marks {
            if *mark == 'B' { run.begin(*track, *time) } else { found.push(run.end(*track, *time)) }
        }
        found
    }

    #[test]
    fn ends_behind_all_begins_are_in_their_order() {
        let run = [('B', 1, 0), ('B', 1, 5), ('B', 2, 6), ('E', 1, 5), ('E', 1, 8), ('E', 2, 6)];
        assert_eq!(lengths(&run), [Some(5), Some(3), Some(0)]);
        let pairs = [('B', 1, 0), ('E', 1, 9), ('B', 1, 5), ('E', 1, 12)];
        assert_eq!(lengths(&pairs), [Some(9), Some(7)]);
    }

    #[test]
    fn nested_slices_in_the_order_of_time_are_left_to_it() {
        let nested = [('B', 1, 0), ('B', 1, 2), ('E', 1, 5), ('E', 1, 10), ('E', 1, 11)];
        assert_eq!(lengths(&nested), [None, None, None]);
    }
}
