//! Names with a significant change of time, for highlighting in the timeline.

use super::change::{NameChange, is_significant};
use super::name_keys::NameKeys;
use super::samples;
use super::side::DiffSide;
use crate::analyze::selection::Selection;

/// Without enough iterations for a test, a change below this share of the longer time is ignored.
const MIN_CHANGE: f64 = 0.05;

/// A change below this share of all device work (or host time) is ignored.
const MIN_SHARE: f64 = 0.001;

/// A name that takes another time in the second trace; times and counts are means over iterations.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedName {
    /// The name of the operators or kernels.
    pub name: String,
    /// `operator` or `kernel`.
    pub kind: &'static str,
    /// `both`, `added` or `removed`.
    pub status: &'static str,
    /// Before and after, in nanoseconds: device time of its own, or host time where there is no
    /// device.
    pub ns: [i64; 2],
    /// How often.
    pub counts: [f64; 2],
    /// Ids of the longest.
    pub longest: [Option<i64>; 2],
}

/// Operators and kernels that changed, the largest change first.
///
/// By Welch's test where both traces have two iterations or more, else by 5 % or more of the longer
/// time; and by a thousandth of the time of all names or more.
pub fn changed(selections: [&Selection<'_>; 2]) -> Vec<ChangedName> {
    let mut keys = NameKeys::default();
    let sides = DiffSide::pair(selections, &mut keys);
    let mut all = reported_changes("operator", &samples::operators(&sides, &keys));
    all.extend(reported_changes("kernel", &samples::kernels(&sides, &keys)));
    crate::sort::by_key(&mut all, |change| std::cmp::Reverse(change.ns[1].abs_diff(change.ns[0])));
    all
}

fn reported_changes(kind: &'static str, changes: &[NameChange]) -> Vec<ChangedName> {
    let sum = |side: usize| changes.iter().map(|change| change.ns[side] as f64).sum::<f64>();
    let least = MIN_SHARE * sum(0).max(sum(1));
    let is_reported = |change: &&NameChange| {
        let (size, longer) = (change.change_ns().unsigned_abs() as f64, change.ns[0].max(change.ns[1]) as f64);
        let is_change = is_significant(change.p_value()).unwrap_or(size >= MIN_CHANGE * longer);
        is_change && size > 0.0 && size >= least
    };
    let row = |change: &NameChange| ChangedName {
        name: change.name.clone(),
        kind,
        status: change.status(),
        ns: change.ns,
        counts: [change.per_iteration(0), change.per_iteration(1)],
        longest: change.sides.each_ref().map(|side| side.longest_id),
    };
    changes.iter().filter(is_reported).map(row).collect()
}
