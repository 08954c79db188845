//! Tells which ranks of a job have no trace.

use super::problem::{Problem, TABLE, VerdictState};
use crate::analyze::result::AnalysisResult;
use crate::link::rank::JobRanks;
use crate::sort;

/// Ranges that are listed; the ranks of further ones are counted.
const MAX_RANGES: usize = 8;

/// The rank of a trace, and the number of ranks that it states for its job.
pub(crate) type StatedRank = (Option<i64>, Option<i64>);

/// Ranks of a job without a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MissingRanks {
    num_known: usize,
    num_all: i64,
    /// First and last rank of each range, in ascending order.
    ranges: Vec<(i64, i64)>,
}

impl MissingRanks {
    /// `None` if no rank is missing, or if that is unknown: traces of one rank, a trace of unknown
    /// rank, or no number of ranks that all traces agree on. Replicas state none.
    pub(crate) fn of(traces: &[StatedRank]) -> Option<Self> {
        let stated = sort::distinct(traces.iter().filter_map(|(_, num)| *num));
        let [num_all] = stated[..] else { return None };
        let ranks: Option<Vec<i64>> = traces.iter().map(|(rank, _)| *rank).collect();
        let ranks = sort::distinct(ranks?);
        // A rank beyond the number has another numbering.
        let is_known = ranks.len() > 1 && ranks.iter().all(|rank| (0..num_all).contains(rank));
        let mut ranges = Vec::new();
        let mut next = 0_i64;
        for rank in ranks.iter().copied().chain([num_all]) {
            if rank > next {
                ranges.push((next, rank - 1));
            }
            next = rank.saturating_add(1);
        }
        (is_known && !ranges.is_empty()).then_some(Self { num_known: ranks.len(), num_all, ranges })
    }

    /// The same of the members of a job.
    pub(crate) fn of_job(job: &JobRanks) -> Option<Self> {
        let stated = job.members.iter().map(|member| (member.rank, member.linked.trace.num_ranks()));
        Self::of(&stated.collect::<Vec<_>>())
    }

    /// `traces of 7 of 8 ranks; missing: 5`.
    pub(crate) fn words(&self) -> String {
        let words = |(first, last): &(i64, i64)| match last.saturating_sub(*first) {
            0 => first.to_string(),
            1 => format!("{first}, {last}"),
            _ => format!("{first} to {last}"),
        };
        let shown: Vec<_> = self.ranges.iter().take(MAX_RANGES).map(words).collect();
        let rest = self.ranges.iter().skip(MAX_RANGES);
        let num_more = rest.fold(0_i64, |sum, (first, last)| sum.saturating_add(last - first + 1));
        let more = if num_more > 0 { format!(" and {num_more} more") } else { String::new() };
        format!("traces of {} of {} ranks; missing: {}{more}", self.num_known, self.num_all, shown.join(", "))
    }
}

/// The problem of a job that lacks traces of ranks, as the table of `problems` has it.
pub(super) fn of_job(traces: &[StatedRank]) -> Option<AnalysisResult> {
    let missing = MissingRanks::of(traces)?;
    let advice = "add the traces of these ranks: waits, sums and means are of the other ranks alone";
    let problem = Problem::new("missing_ranks", VerdictState::Incomplete, 1, missing.words()).advised(advice);
    Some(AnalysisResult::of(&TABLE, vec![problem], ""))
}

#[cfg(test)]
mod tests {
    use super::{MissingRanks, StatedRank};

    fn words(ranks: &[i64], num_all: Option<i64>) -> Option<String> {
        let stated: Vec<StatedRank> = ranks.iter().map(|rank| (Some(*rank), num_all)).collect();
        MissingRanks::of(&stated).map(|missing| missing.words())
    }

    #[test]
    fn names_the_ranks_without_a_trace() {
        let of = |ranks: &[i64], num| words(ranks, Some(num)).unwrap();
        assert_eq!(of(&[0, 1, 2, 3, 4, 6, 7], 8), "traces of 7 of 8 ranks; missing: 5");
        assert_eq!(of(&[3, 4, 4], 9), "traces of 2 of 9 ranks; missing: 0 to 2, 5 to 8");
        assert_eq!(of(&[2, 3], 4), "traces of 2 of 4 ranks; missing: 0, 1");
        let odd: Vec<i64> = (0..12).map(|at| 2 * at + 1).collect();
        let expected = "traces of 12 of 25 ranks; missing: 0, 2, 4, 6, 8, 10, 12, 14 and 5 more";
        assert_eq!(of(&odd, 25), expected);
        assert!(of(&[0, 1], i64::MAX).starts_with("traces of 2 of 9223372036854775807 ranks; missing: 2 to "));
    }

    #[test]
    fn nothing_is_missing_where_the_number_of_ranks_is_unknown() {
        assert_eq!(words(&[0, 1], Some(2)), None);
        // Replicas, another numbering, a single trace, and hostile numbers.
        assert_eq!([words(&[0, 1], None), words(&[0, 8], Some(8)), words(&[3], Some(8))], [None, None, None]);
        assert_eq!([words(&[-1, 0], Some(8)), words(&[0, 1], Some(-1)), words(&[], Some(8))], [None, None, None]);
        assert_eq!(MissingRanks::of(&[(Some(0), Some(4)), (None, Some(4))]), None);
        assert_eq!(MissingRanks::of(&[(Some(0), Some(4)), (Some(1), Some(8))]), None);
    }
}
