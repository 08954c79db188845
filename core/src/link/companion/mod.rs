//! Compares the clocks of two recordings of one run, by annotations that both have.

mod annotation_series;

use std::cmp::Reverse;
use std::sync::Arc;

use annotation_series::{CommonAnnotation, LEAST_TOLERANCE_NS, common_annotations, median};
use rustc_hash::{FxHashMap, FxHashSet};

use super::linked_trace::LinkedTrace;
use crate::sort;
use crate::trace::Trace;

/// The distance of two clocks, from annotations in both recordings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct AnnotationClock {
    /// The nanoseconds to add to the other's times: the median over matched annotations.
    pub(crate) offset_ns: i64,
    /// The median distance of single annotations from the offset, in nanoseconds.
    pub(crate) spread_ns: i64,
    /// Annotations that fit the offset.
    pub(crate) num_matches: usize,
    /// Annotations that both recordings have.
    pub(crate) num_common: usize,
    /// The name of a common annotation; empty without one.
    pub(crate) example: String,
    /// Another offset that fits no fewer annotations.
    pub(crate) rival_ns: Option<i64>,
}

impl AnnotationClock {
    /// Whether at least two annotations fit, and more than half of all.
    pub(crate) fn is_certain(&self) -> bool {
        self.num_matches > 1 && self.num_matches * 2 > self.num_common && self.rival_ns.is_none()
    }
}

/// Offsets that are compared.
const MAX_OFFSETS: usize = 256;

/// A fit is clearly closer if its spread is so many times smaller.
const CLEARLY: i64 = 4;

/// A smaller spread is no closer: two calls in a row are apart by as much.
const LEAST_SPREAD_NS: i64 = 1_000;

/// Differences that are computed to find offsets.
const MAX_DIFFERENCES: usize = 1 << 18;

/// Matches annotations by name, and in order where a name repeats.
///
/// Either recording may begin or end before the other: each way to place occurrences of a name
/// beside each other gives an offset. That with the most annotations of all names counts, unless a
/// clearly closer one has more than half as many. With `is_one_clock`, the least of all that fit as
/// well counts.
pub(crate) fn annotation_clock(main: &Trace, other: &Trace, is_one_clock: bool) -> AnnotationClock {
    let common = common_annotations(main, other);
    let num_common = sum_by_name(&common, CommonAnnotation::num_pairs);
    let mut candidates = offsets(&common);
    candidates.extend(is_one_clock.then_some(0));
    let mut fits: Vec<OffsetFit> = candidates.into_iter().map(|offset| OffsetFit::of(&common, offset)).collect();
    sort::by_key(&mut fits, |fit| (Reverse(fit.num_matches), fit.spread_ns, fit.offset_ns));
    let Some(most) = fits.first() else { return AnnotationClock::default() };
    let mut best = fits.iter().find(|fit| fit.is_closer(most)).unwrap_or(most);
    if is_one_clock {
        let as_good = fits.iter().filter(|fit| fit.has_half_of(most) && fit.is_as_close(best));
        best = as_good.min_by_key(|fit| fit.offset_ns.saturating_abs()).unwrap_or(best);
    }
    let is_apart = |fit: &OffsetFit| fit.offset_ns.abs_diff(best.offset_ns) > 2 * LEAST_TOLERANCE_NS.unsigned_abs();
    let is_rival = |fit: &&OffsetFit| fit.num_matches >= best.num_matches && is_apart(fit) && fit.is_as_close(best);
    AnnotationClock {
        offset_ns: best.offset_ns,
        spread_ns: best.spread_ns,
        num_matches: best.num_matches,
        num_common,
        example: common.first().map(|one| one.name.to_owned()).unwrap_or_default(),
        rival_ns: fits.iter().find(is_rival).map(|fit| fit.offset_ns).filter(|_| !is_one_clock),
    }
}

/// The trace of which another tool recorded the process; `None` if none or several are.
pub fn companion_of(traces: &[Arc<LinkedTrace>], other: &Trace) -> Option<usize> {
    let wanted = host_processes(other);
    let is_same = |trace: &Arc<LinkedTrace>| host_processes(&trace.trace).iter().any(|one| wanted.contains(one));
    let mut found = (0..traces.len()).filter(|at| is_same(&traces[*at]));
    found.next().filter(|_| found.next().is_none())
}

fn host_processes(trace: &Trace) -> FxHashSet<&str> {
    let hosts = trace.tracks.iter().filter(|track| track.stream.is_none());
    hosts.map(|track| trace.strings.text(track.process)).filter(|process| process.parse::<u32>().is_ok()).collect()
}

/// The sum over names of the largest count among the pairs of a name.
fn sum_by_name<'a>(common: &[CommonAnnotation<'a>], count: impl Fn(&CommonAnnotation<'a>) -> usize) -> usize {
    let mut counts: FxHashMap<&str, usize> = FxHashMap::default();
    for one in common {
        let largest = counts.entry(one.name).or_default();
        *largest = count(one).max(*largest);
    }
    counts.into_values().sum()
}

/// Offsets that some annotations suggest: first those at which each occurrence has a partner, then
/// those at which both recordings have more and more without one.
fn offsets(common: &[CommonAnnotation<'_>]) -> Vec<i64> {
    let mut order: Vec<&CommonAnnotation<'_>> = common.iter().collect();
    // Equally many occurrences give one offset, which is worth more than one of many.
    sort::by_key(&mut order, |one| {
        let [here, there] = one.middles.each_ref().map(Vec::len);
        (here.abs_diff(there), Reverse(here.min(there)))
    });
    let most = order.iter().map(|one| one.num_pairs()).max().unwrap_or(0);
    let (mut found, mut num_left) = (Vec::new(), MAX_DIFFERENCES);
    for num_alone in 0..most {
        for one in &order {
            for [here, there] in one.placements(num_alone) {
                let num_pairs = here.len().min(there.len());
                if found.len() == MAX_OFFSETS || num_left < num_pairs {
                    return found;
                }
                num_left -= num_pairs;
                let differences = here.iter().zip(there).map(|(here, there)| here.saturating_sub(*there));
                found.push(median(&mut differences.collect::<Vec<_>>()));
            }
        }
    }
    found
}

/// How well an offset fits.
struct OffsetFit {
    offset_ns: i64,
    spread_ns: i64,
    num_matches: usize,
}

impl OffsetFit {
    /// Whether its annotations agree clearly better than those of another, and are more than half
    /// as many.
    fn is_closer(&self, other: &Self) -> bool {
        self.has_half_of(other) && self.spread_ns.max(LEAST_SPREAD_NS) < other.spread_ns / CLEARLY
    }

    fn has_half_of(&self, other: &Self) -> bool {
        self.num_matches * 2 > other.num_matches
    }

    /// Whether its annotations agree about as well as those of another.
    fn is_as_close(&self, other: &Self) -> bool {
        self.spread_ns / CLEARLY <= other.spread_ns.max(LEAST_TOLERANCE_NS)
    }

    /// Matches the nearest occurrences, and takes the median of their differences.
    fn of(common: &[CommonAnnotation<'_>], offset_ns: i64) -> Self {
        let num_matches = sum_by_name(common, |one| differences(one, offset_ns).len());
        let mut all: Vec<i64> = common.iter().flat_map(|one| differences(one, offset_ns)).collect();
        if all.is_empty() {
            return Self { offset_ns, spread_ns: 0, num_matches };
        }
        let offset_ns = median(&mut all);
        let mut spreads: Vec<_> = all.iter().map(|one| one.saturating_sub(offset_ns).saturating_abs()).collect();
        Self { offset_ns, spread_ns: median(&mut spreads), num_matches }
    }
}

/// The differences of occurrences that agree with an offset, each occurrence at most once.
fn differences(one: &CommonAnnotation<'_>, offset_ns: i64) -> Vec<i64> {
    let [here, there] = &one.middles;
    let (mut found, mut from, mut to) = (Vec::new(), 0, 0);
    while let (Some(left), Some(right)) = (here.get(from), there.get(to)) {
        let difference = left.saturating_sub(*right);
        let error = difference.saturating_sub(offset_ns);
        if error.saturating_abs() <= one.tolerance_ns {
            found.push(difference);
        }
        from += usize::from(error <= one.tolerance_ns);
        to += usize::from(error >= -one.tolerance_ns);
    }
    found
}
