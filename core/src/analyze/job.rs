//! The traces of a job, and what of each is looked at.

use std::borrow::Cow;
use std::sync::Arc;

use super::afar::Told;
use super::options::Options;
use super::selection::{Selection, Wanted};
use crate::error::Error;
use crate::link::LinkedTrace;
use crate::link::rank::Ranks;
use crate::threads::each;

/// A trace with the rank it is of, where that is known.
pub type RankedTrace = (Option<i64>, Arc<LinkedTrace>);

/// The option of analyses that compare what different clocks tell.
pub(super) const ALIGN_CLOCKS: &str = "align_clocks";

/// The traces of a job with what they share, and what of them is looked at.
#[derive(Debug)]
pub struct Job<'a> {
    /// What of each trace is looked at.
    pub parts: Vec<Selection<'a>>,
    /// The same traces as members of the job, and what they share.
    pub ranks: Arc<Ranks>,
    /// What was told of each trace, where the traces hold communications alone.
    pub(super) told: Option<Vec<Vec<Told>>>,
    max_threads: usize,
}

impl<'a> Job<'a> {
    /// What is wanted of each trace, by its place. An error where one of them does not have it.
    pub fn of(
        traces: &'a [RankedTrace],
        wanted: &dyn Fn(usize) -> Wanted,
        options: &Options,
        max_threads: usize,
    ) -> Result<Self, Error> {
        let parts = selections(traces, wanted)?;
        // Whoever compares communications needs them of all traces; that is most of the work.
        each(max_threads, traces.len(), |at| traces[at].1.collectives().rows.len());
        let ranks = Ranks::new(traces.to_vec(), options.flag(ALIGN_CLOCKS));
        Ok(Self { parts, ranks: Arc::new(ranks), told: None, max_threads })
    }

    /// Whether anything was told of traces that are elsewhere.
    pub(super) fn is_told(&self) -> bool {
        self.told.iter().flatten().any(|told| !told.is_empty())
    }

    /// What was told of each part, if it was told; none where the traces are at hand.
    pub(super) fn told<'b, T>(&'b self, pick: impl Fn(&'b Told) -> Option<&'b T>) -> Option<Vec<Option<&'b T>>> {
        Some(self.told.as_ref()?.iter().map(|told| told.iter().find_map(&pick)).collect())
    }

    /// What was told of each part, or else what `work` finds in it.
    pub(super) fn said<'b, T: Clone + Default + Send + Sync>(
        &'b self,
        pick: impl Fn(&'b Told) -> Option<&'b T>,
        work: impl Fn(&Selection<'a>) -> T + Sync,
    ) -> Vec<Cow<'b, T>> {
        match self.told(pick) {
            Some(told) => told.into_iter().map(|one| one.map_or_else(Cow::default, Cow::Borrowed)).collect(),
            None => self.each(|_, part| Cow::Owned(work(part))),
        }
    }

    /// What `work` gives for each part, by its place among them; as many at a time as threads may be made.
    pub fn each<T: Send>(&self, work: impl Fn(usize, &Selection<'a>) -> T + Sync) -> Vec<T> {
        each(self.max_threads, self.parts.len(), |at| work(at, &self.parts[at]))
    }
}

/// What is looked at in each trace, by its place.
pub(super) fn selections<'a>(
    traces: &'a [RankedTrace],
    wanted: &dyn Fn(usize) -> Wanted,
) -> Result<Vec<Selection<'a>>, Error> {
    traces.iter().enumerate().map(|(at, (_, linked))| Selection::of(linked, &wanted(at))).collect()
}
