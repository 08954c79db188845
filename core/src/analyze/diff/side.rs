//! One of the two traces under comparison.

use super::super::selection::Selection;
use super::name_keys::NameKeys;
use super::recorded::{ComparedKinds, RecordedCounts};
use crate::link::Iteration;
use crate::time::TimeRange;

/// A trace with its selected iterations.
pub(super) struct DiffSide<'a> {
    pub(super) selection: &'a Selection<'a>,
    /// In the order of time; none where one of the traces has none.
    pub(super) iterations: Vec<Iteration>,
    /// Place of the first of them among those of the trace.
    first: u32,
    /// For each event the number of its name.
    pub(super) key: Vec<u32>,
    /// Events of the whole trace by kind.
    pub(super) recorded: RecordedCounts,
    /// The kinds that both traces recorded.
    pub(super) compared: ComparedKinds,
}

impl<'a> DiffSide<'a> {
    /// Both sides; iterations count only where both traces have them.
    pub(super) fn pair(selections: [&'a Selection<'a>; 2], keys: &mut NameKeys) -> [Self; 2] {
        let recorded = selections.map(|selection| RecordedCounts::of(selection.linked));
        let compared = ComparedKinds::of(&recorded);
        let [before, after] = recorded;
        let mut side = |selection, recorded| Self::new(selection, keys, recorded, compared);
        [side(selections[0], before), side(selections[1], after)]
    }

    fn new(
        selection: &'a Selection<'a>,
        keys: &mut NameKeys,
        recorded: RecordedCounts,
        compared: ComparedKinds,
    ) -> Self {
        let (linked, span) = (selection.linked, selection.span());
        let all = &linked.links.iterations;
        let is_inside = |iteration: &Iteration| compared.iterations && span.overlaps(iteration.start, iteration.dur);
        let first = all.iter().position(is_inside).unwrap_or(0) as u32;
        let iterations = all.iter().filter(|iteration| is_inside(iteration)).copied().collect();
        Self { selection, iterations, first, key: keys.of_events(&linked.trace), recorded, compared }
    }

    /// How many samples there are: iterations, or one of all.
    pub(super) fn num_samples(&self) -> usize {
        self.iterations.len().max(1)
    }

    /// The sample of an event; `None` for an event outside of all iterations, if there are any.
    pub(super) fn sample(&self, row: usize) -> Option<usize> {
        if self.iterations.is_empty() {
            return Some(0);
        }
        let iteration = self.selection.linked.links.iteration.get(row)?.checked_sub(self.first)? as usize;
        (iteration < self.iterations.len()).then_some(iteration)
    }

    /// Device work with its sample: the one that launched it, however late the work ran. Work
    /// without a known launch counts where it began.
    pub(super) fn device_work(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.selection.anytime_work().filter_map(|row| Some((self.work_sample(row)?, row)))
    }

    /// The sample of device work, if it is selected.
    pub(super) fn work_sample(&self, row: usize) -> Option<usize> {
        self.selection.launched(row).then(|| self.sample(row)).flatten()
    }

    /// Duration of device work: never cut, as work counts for the step that launched it.
    pub(super) fn work_ns(&self, row: usize) -> i64 {
        self.selection.linked.trace.events.dur[row].0
    }

    /// How much device work no iteration launched.
    pub(super) fn num_outside(&self) -> usize {
        let is_outside = |row: &usize| self.selection.launched(*row) && self.sample(*row).is_none();
        self.selection.anytime_work().filter(is_outside).count()
    }

    /// The host time of each sample.
    pub(super) fn windows(&self) -> Vec<TimeRange> {
        if self.iterations.is_empty() {
            return vec![self.selection.span()];
        }
        self.iterations.iter().map(|iteration| self.selection.cut(iteration.range())).collect()
    }

    /// Lengths of the samples on the host, in nanoseconds.
    pub(super) fn window_lengths(&self) -> Vec<i64> {
        self.windows().iter().map(|window| window.dur().0).collect()
    }

    /// The iteration of the median duration, by its place; none where there are none.
    pub(super) fn typical(&self) -> Option<usize> {
        let mut places: Vec<usize> = (0..self.iterations.len()).collect();
        crate::sort::by_key(&mut places, |place| (self.iterations[*place].dur, *place));
        places.get(places.len().saturating_sub(1) / 2).copied()
    }
}
