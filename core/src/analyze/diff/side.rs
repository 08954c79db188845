//! One of the two traces under comparison.

use super::super::selection::Selection;
use super::name_keys::NameKeys;
use crate::link::Iteration;

/// A trace with its selected iterations.
pub(super) struct DiffSide<'a> {
    pub(super) selection: &'a Selection<'a>,
    /// In the order of time; none where the trace has none.
    pub(super) iterations: Vec<Iteration>,
    /// Place of the first of them among those of the trace.
    first: u32,
    /// For each event the number of its name.
    pub(super) key: Vec<u32>,
}

impl<'a> DiffSide<'a> {
    /// Both traces, with the names of their events.
    pub(super) fn both(selections: [&'a Selection<'a>; 2]) -> ([Self; 2], NameKeys) {
        let mut keys = NameKeys::new(selections.map(|selection| &selection.linked.trace));
        let sides = selections.map(|selection| Self::new(selection, &mut keys));
        (sides, keys)
    }

    fn new(selection: &'a Selection<'a>, keys: &mut NameKeys) -> Self {
        let (linked, span) = (selection.linked, selection.span());
        let all = &linked.links.iterations;
        let is_inside = |iteration: &Iteration| span.overlaps(iteration.start, iteration.dur);
        let first = all.iter().position(is_inside).unwrap_or(0) as u32;
        let iterations = all.iter().filter(|iteration| is_inside(iteration)).copied().collect();
        Self { selection, iterations, first, key: keys.of_events(&linked.trace) }
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

    /// The iteration of the median duration, by its place; none where there are none.
    pub(super) fn typical(&self) -> Option<usize> {
        let mut places: Vec<usize> = (0..self.iterations.len()).collect();
        crate::sort::by_key(&mut places, |place| (self.iterations[*place].dur, *place));
        places.get(places.len().saturating_sub(1) / 2).copied()
    }

    /// Whether any device did work.
    pub(super) fn has_device(&self) -> bool {
        self.selection.device_work().next().is_some()
    }
}
