//! One of the two traces under comparison.

use super::super::selection::Selection;
use super::name_keys::NameKeys;
use super::recorded::{ComparedKinds, RecordedCounts};
use crate::link::Iteration;
use crate::sort;
use crate::time::{Dur, TimeRange};

/// Launches of a selection that lost their work.
pub(super) struct LostLaunches {
    pub(super) num: usize,
    /// Places of their iterations among those of the trace.
    pub(super) iterations: Vec<u32>,
    /// Whether enough is left to compare: an iteration without such launches, or else nearly all
    /// work.
    pub(super) is_little: bool,
}

/// Of work without iterations, at most one in so many may be lost.
const FEW_LOST: usize = 100;

impl LostLaunches {
    fn of(selection: &Selection<'_>) -> Self {
        let linked = selection.linked;
        let starts = &linked.trace.events.start;
        let lost = linked.lost_work().ranges.iter().map(|range| range.launch);
        let rows: Vec<u32> = lost.filter(|row| selection.meets(starts.at(*row as usize), Dur(0))).collect();
        let iterations = sort::distinct(rows.iter().filter_map(|row| linked.links.iteration.get(*row as usize)));
        let all = linked.links.iterations.iter().enumerate();
        let mut selected = all.filter(|(_, iteration)| selection.has_iteration(iteration)).peekable();
        let is_little = if selected.peek().is_some() {
            selected.any(|(place, _)| iterations.binary_search(&(place as u32)).is_err())
        } else {
            rows.len() * FEW_LOST <= linked.links.launched.pairs().len()
        };
        Self { num: rows.len(), iterations, is_little: is_little && !linked.lost_work().is_cut() }
    }
}

/// A trace with its selected iterations.
pub(super) struct DiffSide<'a> {
    pub(super) selection: &'a Selection<'a>,
    /// In the order of time, without those that lost device work; none where one of the traces has
    /// none.
    pub(super) iterations: Vec<Iteration>,
    /// The same with those that lost device work: the host's times are right in all.
    pub(super) all_iterations: Vec<Iteration>,
    /// The sample of each iteration of the trace.
    samples: Vec<Option<u32>>,
    /// Launches in the selection that lost their work.
    pub(super) lost: LostLaunches,
    /// For each event the number of its name.
    pub(super) key: Vec<u32>,
    /// Events of the whole trace by kind.
    pub(super) recorded: RecordedCounts,
    /// The kinds that both traces recorded.
    pub(super) compared: ComparedKinds,
}

impl<'a> DiffSide<'a> {
    /// Both traces, with the names of their events; iterations count only where both have them.
    pub(super) fn both(selections: [&'a Selection<'a>; 2]) -> ([Self; 2], NameKeys) {
        let mut keys = NameKeys::new(selections.map(|selection| &selection.linked.trace));
        let recorded = selections.map(|selection| RecordedCounts::of(selection.linked));
        let lost = selections.map(LostLaunches::of);
        let compared = ComparedKinds::of(&recorded, &lost);
        let ([before, after], [lost_before, lost_after]) = (recorded, lost);
        let mut side = |selection, recorded, lost| Self::new(selection, &mut keys, recorded, lost, compared);
        let sides = [side(selections[0], before, lost_before), side(selections[1], after, lost_after)];
        (sides, keys)
    }

    fn new(
        selection: &'a Selection<'a>,
        keys: &mut NameKeys,
        recorded: RecordedCounts,
        lost: LostLaunches,
        compared: ComparedKinds,
    ) -> Self {
        let linked = selection.linked;
        let all = &linked.links.iterations;
        let is_selected = |iteration: &&Iteration| compared.iterations && selection.has_iteration(iteration);
        let mut iterations = Vec::new();
        let mut samples = vec![None; all.len()];
        for (place, iteration) in all.iter().enumerate().filter(|(_, iteration)| is_selected(iteration)) {
            if !(compared.device && lost.iterations.contains(&(place as u32))) {
                samples[place] = Some(iterations.len() as u32);
                iterations.push(*iteration);
            }
        }
        Self {
            selection,
            iterations,
            all_iterations: all.iter().filter(is_selected).copied().collect(),
            samples,
            lost,
            key: keys.of_events(&linked.trace),
            recorded,
            compared,
        }
    }

    /// Whether the program used a device, or may have, however much of its work was recorded.
    #[cfg(feature = "gates")]
    pub(super) fn has_device(&self) -> bool {
        self.recorded.device_work() > 0 || self.lost.num > 0 || self.selection.linked.lost_work().is_cut()
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
        let place = self.selection.linked.links.iteration.get(row)?;
        self.samples.get(place as usize)?.map(|sample| sample as usize)
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
        self.selection.linked.trace.events.dur.at(row).0
    }

    /// How much device work no iteration launched.
    pub(super) fn num_outside(&self) -> usize {
        let iteration = |row: usize| self.selection.linked.links.iteration.get(row);
        let is_left_out = |row: usize| iteration(row).is_some_and(|place| self.lost.iterations.contains(&place));
        let is_outside =
            |row: &usize| self.selection.launched(*row) && self.sample(*row).is_none() && !is_left_out(*row);
        self.selection.anytime_work().filter(is_outside).count()
    }

    /// How many iterations are left out by default, because the observer of the Execution Trace
    /// ran.
    pub(super) fn num_observed_outside(&self) -> usize {
        if self.selection.part.is_none() || self.selection.part_asked_for().is_some() {
            return 0;
        }
        let all = self.selection.linked.links.iterations.iter();
        all.filter(|iteration| iteration.is_observed && !self.selection.has_iteration(iteration)).count()
    }

    /// How many iterations are left out because they lost device work.
    pub(super) fn num_left_out(&self) -> usize {
        self.all_iterations.len() - self.iterations.len()
    }

    /// The host time of each sample.
    pub(super) fn windows(&self) -> Vec<TimeRange> {
        self.windows_of(&self.iterations)
    }

    /// The host time of each iteration, also of those that lost device work.
    pub(super) fn all_windows(&self) -> Vec<TimeRange> {
        self.windows_of(&self.all_iterations)
    }

    fn windows_of(&self, iterations: &[Iteration]) -> Vec<TimeRange> {
        if iterations.is_empty() {
            return vec![self.selection.span()];
        }
        iterations.iter().map(|iteration| self.selection.cut(iteration.range())).collect()
    }

    /// Lengths of the samples on the host, in nanoseconds.
    pub(super) fn window_lengths(&self) -> Vec<i64> {
        lengths(&self.windows())
    }

    /// The same of all iterations.
    pub(super) fn all_window_lengths(&self) -> Vec<i64> {
        lengths(&self.all_windows())
    }

    /// The iteration of the median duration, by its place; none where there are none.
    pub(super) fn typical(&self) -> Option<usize> {
        let mut places: Vec<usize> = (0..self.iterations.len()).collect();
        sort::by_key(&mut places, |place| (self.iterations[*place].dur, *place));
        places.get(places.len().saturating_sub(1) / 2).copied()
    }
}

fn lengths(windows: &[TimeRange]) -> Vec<i64> {
    windows.iter().map(|window| window.dur().0).collect()
}
