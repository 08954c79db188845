//! The traces of a job, each with its selection.

use std::borrow::Cow;
use std::sync::Arc;

use super::options::{Options, unexpected};
use super::query::{RankQuery, Reply};
use super::selection::Selection;
use super::selection_request::SelectionRequest;
use crate::error::Error;
use crate::link::LinkedTrace;
use crate::link::rank::{JobRanks, windows};
use crate::threads::each;

/// A trace with the rank it is of, where that is known.
pub type RankedTrace = (Option<i64>, Arc<LinkedTrace>);

/// The option of analyses that compare times of different clocks.
pub(super) const ALIGN_CLOCKS: &str = "align_clocks";

/// The traces of a job with their shared collectives, each with its selection.
#[derive(Debug)]
pub struct Job<'a> {
    /// The selection of each trace.
    pub parts: Vec<Selection<'a>>,
    /// The same traces as members of the job, with their shared collectives.
    pub ranks: Arc<JobRanks>,
    /// Replies of each trace's worker, where the traces hold collectives alone.
    pub(super) replies: Option<Vec<Vec<Reply>>>,
    max_threads: usize,
}

/// The trace of the median mean iteration, or of the median length where a trace has no iterations;
/// `None` without traces.
pub fn typical_trace(traces: &[RankedTrace]) -> Option<usize> {
    slowest_typical_fastest(&lengths(traces)).map(|[_, typical, _]| typical)
}

/// The traces of the longest and of the median mean iteration; `None` for less than two traces.
pub(crate) fn slowest_and_typical(traces: &[RankedTrace]) -> Option<[usize; 2]> {
    let [slowest, typical, _] = slowest_typical_fastest(&lengths(traces)).filter(|_| traces.len() > 1)?;
    Some([slowest, typical])
}

/// The places of the largest, the median and the smallest length. Of equally large ones, the first
/// is the largest, as in tables.
pub(crate) fn slowest_typical_fastest(lengths: &[i128]) -> Option<[usize; 3]> {
    let mut places: Vec<usize> = (0..lengths.len()).collect();
    crate::sort::by_key(&mut places, |at| (lengths[*at], *at));
    let longest = lengths[*places.last()?];
    let slowest = lengths.iter().position(|length| *length == longest)?;
    Some([slowest, places[(places.len() - 1) / 2], places[0]])
}

/// The mean iteration of each trace, or its length where a trace has no iterations.
fn lengths(traces: &[RankedTrace]) -> Vec<i128> {
    let mean = |linked: &LinkedTrace| {
        let iterations = &linked.links.iterations;
        let sum: i128 = iterations.iter().map(|iteration| i128::from(iteration.dur.0)).sum();
        sum / (iterations.len() as i128).max(1)
    };
    let has_iterations = traces.iter().all(|(_, linked)| !linked.links.iterations.is_empty());
    let length = |(_, linked): &RankedTrace| {
        if has_iterations { mean(linked) } else { i128::from(linked.range().dur().0) }
    };
    traces.iter().map(length).collect()
}

/// The places of the traces of one rank and window in both jobs.
///
/// # Errors
/// When the jobs have no rank in common.
pub(super) fn common_ranks(before: &[RankedTrace], after: &[RankedTrace]) -> Result<Vec<(usize, usize)>, Error> {
    let places = |traces: &[RankedTrace]| {
        let ranks: Vec<_> = traces.iter().map(|(rank, _)| *rank).collect();
        ranks.iter().copied().zip(windows(&ranks)).collect::<Vec<_>>()
    };
    let (here, there) = (places(before), places(after));
    let pairs = here.iter().enumerate().filter_map(|(at, place)| Some((at, there.iter().position(|to| to == place)?)));
    let pairs: Vec<(usize, usize)> = pairs.collect();
    if pairs.is_empty() {
        let rank = |(rank, _): &RankedTrace| rank.map_or_else(|| String::from("unknown"), |rank| rank.to_string());
        let ranks = |traces: &[RankedTrace]| traces.iter().map(rank).collect::<Vec<_>>().join(", ");
        return Err(unexpected(&format!("a rank of both jobs, such as one of {}", ranks(before)), &ranks(after)));
    }
    Ok(pairs)
}

impl<'a> Job<'a> {
    /// Selects the wanted part of each trace, by index. An error where a trace does not have it.
    pub fn of(
        traces: &'a [RankedTrace],
        wanted: &dyn Fn(usize) -> SelectionRequest,
        options: &Options,
        max_threads: usize,
    ) -> Result<Self, Error> {
        let parts = selections(traces, wanted)?;
        // Whoever compares communications needs them of all traces; that is most of the work.
        each(max_threads, traces.len(), |at| traces[at].1.collectives().rows.len());
        let ranks = JobRanks::new(traces.to_vec(), options.flag(ALIGN_CLOCKS));
        Ok(Self { parts, ranks: Arc::new(ranks), replies: None, max_threads })
    }

    /// Whether a worker has replied.
    pub(super) fn has_replies(&self) -> bool {
        self.replies.iter().flatten().any(|replies| !replies.is_empty())
    }

    /// The reply of each part to a query; `None` inside for a part without one, outside where the
    /// traces are local.
    pub(super) fn replies<Q: RankQuery>(&self) -> Option<Vec<Option<&Q::Reply>>> {
        Some(self.replies.as_ref()?.iter().map(|replies| replies.iter().find_map(Reply::to::<Q>)).collect())
    }

    /// The reply of each part to a query, or the outcome of `work` where the traces are local.
    pub(super) fn replies_or<Q: RankQuery<Reply: Clone + Default>>(
        &self,
        work: impl Fn(&Selection<'a>) -> Q::Reply + Sync,
    ) -> Vec<Cow<'_, Q::Reply>> {
        match self.replies::<Q>() {
            Some(replies) => replies.into_iter().map(|one| one.map_or_else(Cow::default, Cow::Borrowed)).collect(),
            None => self.each(|_, part| Cow::Owned(work(part))),
        }
    }

    /// Runs `work` for each part, by index, on as many threads as allowed.
    pub fn each<T: Send>(&self, work: impl Fn(usize, &Selection<'a>) -> T + Sync) -> Vec<T> {
        each(self.max_threads, self.parts.len(), |at| work(at, &self.parts[at]))
    }
}

/// The selection of each trace, by index.
pub(super) fn selections<'a>(
    traces: &'a [RankedTrace],
    wanted: &dyn Fn(usize) -> SelectionRequest,
) -> Result<Vec<Selection<'a>>, Error> {
    let of_trace = |at: usize, is_lenient: bool| {
        let wanted = wanted(at);
        Selection::of(&traces[at].1, &if is_lenient { wanted.lenient() } else { wanted })
    };
    // A stage of a pipeline has modules that others lack.
    let has_it = (0..traces.len()).any(|at| of_trace(at, false).is_ok());
    (0..traces.len()).map(|at| of_trace(at, has_it)).collect()
}

#[cfg(test)]
mod tests {
    use super::slowest_typical_fastest;

    #[test]
    fn the_first_of_equal_lengths_is_the_slowest() {
        assert_eq!(slowest_typical_fastest(&[5, 7, 7, 5, 1]), Some([1, 3, 4]));
        assert_eq!(slowest_typical_fastest(&[3, 3, 3]), Some([0, 1, 0]));
        assert_eq!(slowest_typical_fastest(&[]), None);
    }
}
