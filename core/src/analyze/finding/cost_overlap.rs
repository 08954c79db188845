//! Measures how far costs of findings overlap. Fixing one finding may save the cost of another.

use serde::{Deserialize, Serialize};

use crate::sort;
use crate::table::{Table, float, int};
use crate::time::{TimeRange, Ts, add_ns, sum_ns};

/// The costs of all findings of a trace together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CostTotals {
    /// The rank of the trace, where that is known.
    pub rank: Option<i64>,
    /// Index among the traces of the rank, from 0.
    pub window: i64,
    /// Findings of the trace alone.
    pub num_findings: u64,
    /// Those with a cost whose time is unknown. They are not in `union_ns`.
    pub num_untimed: u64,
    /// The sum of all costs.
    pub sum_ns: i64,
    /// The time in which any finding costs: time that several findings count is in it once.
    pub union_ns: i64,
    /// Length of the selected time.
    pub span_ns: i64,
}

pub(crate) static TABLE: Table<Vec<CostTotals>> = Table {
    name: "finding_totals",
    doc: "the costs of all findings of a trace together, in which overlapping costs count once",
    num_rows: Vec::len,
    columns: &[
        int("rank", |rows, at| rows[at].rank),
        int("window", |rows, at| Some(rows[at].window)),
        int("num_findings", |rows, at| Some(rows[at].num_findings as i64)),
        int("num_untimed", |rows, at| Some(rows[at].num_untimed as i64)),
        int("sum_ns", |rows, at| Some(rows[at].sum_ns)),
        int("union_ns", |rows, at| Some(rows[at].union_ns)),
        float("union_share", |rows, at| Some(rows[at].union_ns as f64 / rows[at].span_ns.max(1) as f64)),
    ],
};

/// The time of several sets of ranges.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SharedTimes {
    /// The time in any set.
    pub(super) union_ns: i64,
    /// The time of each set that is also in another.
    pub(super) shared_ns: Vec<i64>,
}

impl SharedTimes {
    /// Of sets whose own ranges are disjoint.
    pub(super) fn of(sets: &[&[TimeRange]]) -> Self {
        let of_set = |(set, ranges): (usize, &&[TimeRange])| {
            let ends = |range: &TimeRange| [(range.start, true, set), (range.end, false, set)];
            ranges.iter().flat_map(ends).collect::<Vec<_>>()
        };
        let mut ends: Vec<(Ts, bool, usize)> = sets.iter().enumerate().flat_map(of_set).collect();
        sort::by_key(&mut ends, |(time, is_start, set)| (*time, *is_start, *set));
        let mut alone_ns = vec![0; sets.len()];
        let (mut union_ns, mut num_open, mut sum_open) = (0, 0_usize, 0_usize);
        let mut before = None;
        for (time, is_start, set) in ends {
            let passed_ns = before.map_or(0, |before: Ts| TimeRange { start: before, end: time }.dur().0);
            if num_open > 0 {
                add_ns(&mut union_ns, passed_ns);
            }
            // Of one open set, the sum is its number.
            if num_open == 1 {
                add_ns(&mut alone_ns[sum_open], passed_ns);
            }
            if is_start {
                (num_open, sum_open) = (num_open + 1, sum_open + set);
            } else {
                (num_open, sum_open) = (num_open.saturating_sub(1), sum_open.saturating_sub(set));
            }
            before = Some(time);
        }
        let all_ns = sets.iter().map(|ranges| sum_ns(ranges.iter().map(|range| range.dur().0)));
        let shared_ns = all_ns.zip(alone_ns).map(|(all, alone)| (all - alone).max(0)).collect();
        Self { union_ns, shared_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::SharedTimes;
    use crate::time::{TimeRange, Ts};

    #[test]
    fn time_of_several_sets_counts_once() {
        let range = |start, end| TimeRange { start: Ts(start), end: Ts(end) };
        let (a, b, c) = ([range(0, 10), range(20, 30)], [range(5, 25)], [range(40, 45)]);
        let shared = SharedTimes::of(&[&a, &b, &c, &[]]);
        assert_eq!(shared, SharedTimes { union_ns: 35, shared_ns: vec![10, 10, 0, 0] });
        assert_eq!(SharedTimes::of(&[]), SharedTimes::default());
    }
}
