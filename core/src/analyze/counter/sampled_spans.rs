//! Averages the samples of a counter over ranges of time.

use crate::time::{Dur, TimeRange, Ts, add_ns};

/// A gap between two samples that is longer than this many usual ones was not sampled.
const MAX_PERIODS: i64 = 2;

/// The samples of a counter, each with the time that it stands for.
///
/// A sample stands for the time until the next one. After a longer gap than two usual ones, and
/// after the last sample, it stands for one usual gap: their median. Samples that are no finite
/// number stand for nothing, and end the time of the sample before them.
#[derive(Debug, Default)]
pub(in crate::analyze) struct SampledSpans {
    /// Disjoint and ascending, none empty.
    spans: Vec<(TimeRange, f64)>,
    /// Sums of all pairs of spans, of pairs of these, and so on: a tree with the spans as its
    /// leaves.
    sums: Vec<SpanSums>,
    /// The usual gap between two samples.
    pub(in crate::analyze) period: Option<Dur>,
}

/// Values over time, together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::analyze) struct SpanSums {
    /// The time that was sampled, in nanoseconds.
    pub(in crate::analyze) sampled_ns: i64,
    /// Each value times its nanoseconds.
    weighted: f64,
    least: f64,
    greatest: f64,
}

impl Default for SpanSums {
    fn default() -> Self {
        Self { sampled_ns: 0, weighted: 0.0, least: f64::INFINITY, greatest: f64::NEG_INFINITY }
    }
}

impl SpanSums {
    /// One value for so many nanoseconds.
    pub(in crate::analyze) fn of(value: f64, ns: i64) -> Self {
        Self { sampled_ns: ns, weighted: value * ns as f64, least: value, greatest: value }
    }

    pub(in crate::analyze) fn add(&mut self, other: Self) {
        add_ns(&mut self.sampled_ns, other.sampled_ns);
        self.weighted += other.weighted;
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
    }

    /// The same with values as shares of `peak`.
    pub(in crate::analyze) fn over(self, peak: f64) -> Self {
        let Self { sampled_ns, weighted, least, greatest } = self;
        Self { sampled_ns, weighted: weighted / peak, least: least / peak, greatest: greatest / peak }
    }

    /// The mean over time; `None` where nothing was sampled.
    pub(in crate::analyze) fn mean(self) -> Option<f64> {
        let (least, greatest) = self.bounds()?;
        let mean = self.weighted / self.sampled_ns as f64;
        // Rounding may put the mean of equal values beside them.
        mean.is_finite().then(|| mean.clamp(least, greatest))
    }

    /// The least and the greatest value.
    pub(in crate::analyze) fn bounds(self) -> Option<(f64, f64)> {
        (self.sampled_ns > 0).then_some((self.least, self.greatest))
    }
}

impl SampledSpans {
    /// Of samples in the order of time. Of several at one time, the last counts.
    pub(in crate::analyze) fn of(samples: &[(Ts, f64)]) -> Self {
        let period = usual_gap(samples);
        let spans: Vec<_> = period.map_or_else(Vec::new, |period| spans(samples, period));
        let num = spans.len();
        let mut sums = vec![SpanSums::default(); 2 * num];
        for (sum, (time, value)) in sums[num..].iter_mut().zip(&spans) {
            *sum = SpanSums::of(*value, time.dur().0);
        }
        for at in (1..num).rev() {
            sums[at] = sums[2 * at];
            let second = sums[2 * at + 1];
            sums[at].add(second);
        }
        Self { spans, sums, period }
    }

    /// The time of all samples, in nanoseconds.
    pub(in crate::analyze) fn sampled_ns(&self) -> i64 {
        crate::time::sum_ns(self.spans.iter().map(|(time, _)| time.dur().0))
    }

    /// The samples within a range.
    ///
    /// Two bisections and a walk up the tree, so that long ranges take no more time than short
    /// ones.
    pub(in crate::analyze) fn inside(&self, range: TimeRange) -> SpanSums {
        let first = self.spans.partition_point(|(time, _)| time.end <= range.start);
        let rest = &self.spans[first..];
        // Most ranges end in the first spans.
        let near = rest.iter().take(NEAR).position(|(time, _)| time.start >= range.end);
        let num = near.unwrap_or_else(|| rest.partition_point(|(time, _)| time.start < range.end));
        let end = first + num;
        let mut sums = SpanSums::default();
        let mut add = |at: usize| {
            let (time, value) = self.spans[at];
            let ns = time.end.min(range.end).since(time.start.max(range.start)).0;
            if ns > 0 {
                sums.add(SpanSums::of(value, ns));
            }
        };
        if num <= NEAR {
            (first..end).for_each(add);
            return sums;
        }
        add(first);
        add(end - 1);
        let num_leaves = self.spans.len();
        let (mut low, mut high) = (first + 1 + num_leaves, end - 1 + num_leaves);
        while low < high {
            if low % 2 == 1 {
                sums.add(self.sums[low]);
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                sums.add(self.sums[high]);
            }
            low /= 2;
            high /= 2;
        }
        sums
    }
}

/// Spans that are looked at one by one.
const NEAR: usize = 8;

/// The lower median of the gaps between samples at different times; `None` of less than two.
fn usual_gap(samples: &[(Ts, f64)]) -> Option<Dur> {
    let gaps = samples.windows(2).map(|pair| pair[1].0.since(pair[0].0).0);
    let mut gaps: Vec<i64> = gaps.filter(|gap| *gap > 0).collect();
    let middle = gaps.len().checked_sub(1)? / 2;
    Some(Dur(*gaps.select_nth_unstable(middle).1))
}

fn spans(samples: &[(Ts, f64)], period: Dur) -> Vec<(TimeRange, f64)> {
    let end = |at: usize| {
        let (start, _) = samples[at];
        let next = samples.get(at + 1).map(|(next, _)| *next);
        let is_near = |next: &Ts| next.since(start).0 <= period.0.saturating_mul(MAX_PERIODS);
        next.filter(is_near).unwrap_or_else(|| start.after(period))
    };
    let span = |(at, (start, value)): (usize, &(Ts, f64))| (TimeRange { start: *start, end: end(at) }, *value);
    let all = samples.iter().enumerate().map(span);
    all.filter(|(time, value)| time.start < time.end && value.is_finite()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn range(start: i64, end: i64) -> TimeRange {
        TimeRange { start: Ts(start), end: Ts(end) }
    }

    fn of(samples: &[(i64, f64)]) -> SampledSpans {
        SampledSpans::of(&samples.iter().map(|(time, value)| (Ts(*time), *value)).collect::<Vec<_>>())
    }

    #[test]
    fn a_sample_stands_until_the_next_one() {
        let spans = of(&[(0, 10.0), (10, 20.0), (20, 60.0)]);
        let sums = spans.inside(range(5, 25));
        assert_eq!((sums.sampled_ns, sums.mean()), (20, Some((5.0 * 10.0 + 10.0 * 20.0 + 5.0 * 60.0) / 20.0)));
        assert_eq!(sums.bounds(), Some((10.0, 60.0)));
        assert_eq!((spans.sampled_ns(), spans.period), (30, Some(Dur(10))));
    }

    #[test]
    fn long_gaps_and_the_time_outside_are_not_sampled() {
        let spans = of(&[(0, 1.0), (10, 2.0), (20, 3.0), (100, 4.0)]);
        assert_eq!(spans.inside(range(-50, 0)), SpanSums::default());
        assert_eq!(spans.inside(range(25, 95)).sampled_ns, 5);
        assert_eq!(spans.inside(range(30, 100)).mean(), None);
        assert_eq!(spans.inside(range(100, 500)).sampled_ns, 10);
        // A gap of two periods may be a late sample.
        assert_eq!(of(&[(0, 1.0), (10, 2.0), (20, 3.0), (40, 4.0)]).inside(range(0, 99)).sampled_ns, 50);
    }

    #[test]
    fn values_that_are_no_numbers_are_unknown_and_end_the_one_before() {
        let spans = of(&[(0, 1.0), (10, f64::NAN), (20, f64::INFINITY), (30, 4.0)]);
        assert_eq!((spans.inside(range(0, 40)).sampled_ns, spans.inside(range(10, 30)).mean()), (20, None));
    }

    #[test]
    fn one_time_alone_has_no_period() {
        for samples in [&[][..], &[(5, 1.0)], &[(5, 1.0), (5, 2.0)]] {
            let spans = of(samples);
            assert_eq!((spans.sampled_ns(), spans.inside(range(0, 99)).mean(), spans.period), (0, None, None));
        }
        assert_eq!(of(&[(5, 1.0), (5, 2.0), (9, 3.0)]).inside(range(5, 6)).mean(), Some(2.0));
    }

    #[test]
    fn times_at_the_ends_of_what_a_number_holds_do_not_overflow() {
        let spans = of(&[(i64::MIN, 1e308), (0, 1e308), (i64::MAX, 1e308)]);
        let sums = spans.inside(range(i64::MIN, i64::MAX));
        assert!(sums.sampled_ns > 0 && sums.mean().is_none_or(f64::is_finite));
    }

    proptest! {
        #[test]
        fn sums_are_those_of_each_nanosecond(
            samples in prop::collection::vec((-40..200_i64, -9..9_i64), 0..60), start in -60..220_i64, len in 0..250_i64
        ) {
            let mut samples: Vec<_> = samples.into_iter().map(|(time, value)| (time, value as f64)).collect();
            samples.sort_by_key(|(time, _)| *time);
            let spans = of(&samples);
            let value = |ns: i64| spans.spans.iter().find(|(time, _)| time.start.0 <= ns && ns < time.end.0).map(|span| span.1);
            let each: Vec<f64> = (start..start + len).filter_map(value).collect();
            let sums = spans.inside(range(start, start + len));
            prop_assert_eq!(sums.sampled_ns, each.len() as i64);
            let mean = each.iter().sum::<f64>() / each.len() as f64;
            prop_assert!(sums.mean().map_or(each.is_empty(), |found| (found - mean).abs() < 1e-9));
            let bounds = each.iter().copied().reduce(f64::min).zip(each.iter().copied().reduce(f64::max));
            prop_assert_eq!(sums.bounds(), bounds);
        }
    }
}
