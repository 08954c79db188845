//! Measures how much a mean changes by chance: between iterations, and between runs.

use super::super::significance::one_sided_p_value;

/// The values of one metric, by iteration, of each run of one side.
pub(in crate::analyze::diff) type RunValues = Vec<Vec<i64>>;

/// Iterations make a change as large in one of so many comparisons of equal runs.
const ALARMS_OF_ITERATIONS: f64 = 500.0;

/// Runs that differ make a change as large in one of so many. Metrics share the differences of
/// their runs, so their number does not count.
const ALARMS_OF_RUNS: f64 = 200.0;

/// Values of iterations resemble their predecessors at most so much; more would leave no sample.
const MAX_CORRELATION: f64 = 0.97;

/// More make no difference, and fewer are on the safe side.
const MAX_FREEDOM: f64 = 1000.0;

/// A variance with its degrees of freedom.
#[derive(Debug, Clone, Copy)]
struct Variance {
    value: f64,
    freedom: f64,
}

/// One side: the mean of its runs' means, and how that varies.
struct SideSpread {
    mean: f64,
    num_runs: f64,
    /// Of a run's mean, by its iterations; none if a run has one iteration.
    within: Option<Variance>,
    /// Squared distances of the runs' means from their mean.
    squares: f64,
}

/// The change of a mean, and the largest one that chance makes.
#[derive(Debug, Clone, Copy)]
pub(super) struct NoisyChange {
    pub(super) before: f64,
    pub(super) after: f64,
    /// None where the runs are too few to tell.
    pub(super) noise: Option<f64>,
    /// Chance makes an increase as large with this probability.
    pub(super) p_value: Option<f64>,
}

impl NoisyChange {
    /// Compares both sides; `num_compared` metrics share the false alarms.
    ///
    /// The noise is the larger one of two, each `t · sqrt(V)` with a quantile of Student:
    ///
    /// * of iterations: `V = Σ over sides W / k`. A side has `k` runs; `W` is their mean of
    ///   `s² / n · (1 + r) / (1 − r)`, with the variance `s²` of `n` iterations and the correlation
    ///   `r` of neighbours, at least 0. `t` is for `1 / (500 · num_compared)`, with the degrees of
    ///   freedom of Welch and Satterthwaite
    /// * of runs, if a side has several: `V = S² · Σ over sides 1 / k`, with the variance `S²` of
    ///   the means of a side's runs. `t` is for 1 / 200, with one degree of freedom less than runs
    ///   for each side
    pub(super) fn of([before, after]: [&RunValues; 2], num_compared: usize) -> Option<Self> {
        let sides = [SideSpread::of(before)?, SideSpread::of(after)?];
        let [before, after] = sides.each_ref().map(|side| side.mean);
        let of_iterations =
            of_iterations(&sides).map(|variance| (variance, ALARMS_OF_ITERATIONS * num_compared.max(1) as f64));
        let of_runs = of_runs(&sides).map(|variance| (variance, ALARMS_OF_RUNS));
        let all = || of_iterations.into_iter().chain(of_runs);
        let noise = all().map(|(variance, alarms)| variance.noise(alarms)).reduce(f64::max);
        let p_value = all().map(|(variance, _)| variance.p_value(after - before)).reduce(f64::max);
        Some(Self { before, after, noise, p_value })
    }

    pub(super) fn change(&self) -> f64 {
        self.after - self.before
    }
}

impl Variance {
    /// The change that chance makes in one of so many comparisons.
    fn noise(self, alarms: f64) -> f64 {
        if self.value > 0.0 { quantile(alarms.recip(), self.freedom.min(MAX_FREEDOM)) * self.value.sqrt() } else { 0.0 }
    }

    /// The probability that chance makes a change as large.
    fn p_value(self, change: f64) -> f64 {
        if self.value > 0.0 {
            one_sided_p_value(change / self.value.sqrt(), self.freedom.min(MAX_FREEDOM))
        } else if change == 0.0 {
            0.5
        } else {
            f64::from(u8::from(change < 0.0))
        }
    }
}

impl SideSpread {
    fn of(runs: &RunValues) -> Option<Self> {
        let means: Vec<f64> = runs.iter().map(|values| mean(values)).collect::<Option<_>>()?;
        let num_runs = means.len() as f64;
        let own = means.iter().sum::<f64>() / num_runs;
        let within: Option<Vec<Variance>> = runs.iter().map(|values| variance_of_mean(values)).collect();
        let within = within.map(|each| Variance {
            value: each.iter().map(|one| one.value).sum::<f64>() / num_runs,
            freedom: each.iter().map(|one| one.freedom).sum(),
        });
        let squares = means.iter().map(|mean| (mean - own).powi(2)).sum();
        (!runs.is_empty()).then_some(Self { mean: own, num_runs, within, squares })
    }
}

/// Of the change, by the iterations; `None` if a run has one iteration.
fn of_iterations(sides: &[SideSpread; 2]) -> Option<Variance> {
    let part = |side: &SideSpread| Some(Variance { value: side.within?.value / side.num_runs, ..side.within? });
    let parts = [part(&sides[0])?, part(&sides[1])?];
    let value: f64 = parts.iter().map(|part| part.value).sum();
    let squares: f64 = parts.iter().map(|part| part.value.powi(2) / part.freedom).sum();
    Some(Variance { value, freedom: if squares > 0.0 { value * value / squares } else { MAX_FREEDOM } })
}

/// Of the change, by the runs; `None` if both sides have one run.
fn of_runs(sides: &[SideSpread; 2]) -> Option<Variance> {
    let freedom: f64 = sides.iter().map(|side| side.num_runs - 1.0).sum();
    let squares: f64 = sides.iter().map(|side| side.squares).sum();
    let share: f64 = sides.iter().map(|side| side.num_runs.recip()).sum();
    (freedom > 0.0).then(|| Variance { value: squares / freedom * share, freedom })
}

fn mean(values: &[i64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().map(|value| *value as f64).sum::<f64>() / values.len() as f64)
}

/// The variance of a mean of iterations, of which each resembles the one before.
fn variance_of_mean(values: &[i64]) -> Option<Variance> {
    let count = values.len() as f64;
    let mean = mean(values).filter(|_| values.len() > 1)?;
    let rest: Vec<f64> = values.iter().map(|value| *value as f64 - mean).collect();
    let squares: f64 = rest.iter().map(|rest| rest * rest).sum();
    if squares == 0.0 {
        return Some(Variance { value: 0.0, freedom: count - 1.0 });
    }
    let correlation = rest.iter().zip(&rest[1..]).map(|(one, next)| one * next).sum::<f64>() / squares;
    // A short sample shows too little of it.
    let correlation = (correlation + (1.0 + 4.0 * correlation) / count).clamp(0.0, MAX_CORRELATION);
    let factor = (1.0 + correlation) / (1.0 - correlation);
    Some(Variance { value: squares / (count - 1.0) / count * factor, freedom: (count / factor - 1.0).max(0.5) })
}

/// Student's quantile: the value that chance exceeds with probability `alpha`.
fn quantile(alpha: f64, freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while one_sided_p_value(high, freedom) > alpha && high < 1e12 {
        (low, high) = (high, high * 2.0);
    }
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if one_sided_p_value(middle, freedom) > alpha { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(before: &[&[i64]], after: &[&[i64]]) -> Option<f64> {
        let of = |runs: &[&[i64]]| runs.iter().map(|run| run.to_vec()).collect::<RunValues>();
        NoisyChange::of([&of(before), &of(after)], 1)?.noise
    }

    #[test]
    fn quantiles_are_students() {
        // The figures are those of scipy.stats.t.ppf(1 - alpha, freedom).
        for (alpha, freedom, expected) in [(0.002, 10.0, 3.716), (0.01, 3.5, 4.060_7), (0.002, 1.0, 159.15)] {
            let found = quantile(alpha, freedom);
            assert!((found - expected).abs() < 2e-3 * expected, "{found} {expected}");
        }
    }

    #[test]
    fn one_iteration_does_not_tell() {
        assert_eq!(noise(&[&[100]], &[&[110, 111, 109]]), None);
        assert_eq!(noise(&[&[100]], &[&[110]]), None);
        assert_eq!(noise(&[], &[&[110]]), None);
        assert!(noise(&[&[100], &[101], &[99]], &[&[110]]).is_some());
    }

    #[test]
    fn equal_values_have_no_noise() {
        assert_eq!(noise(&[&[100, 100]], &[&[110, 110]]), Some(0.0));
    }

    #[test]
    fn runs_that_differ_add_noise() {
        let (near, far) = ([99, 101, 100, 99, 101, 100], [119, 121, 120, 119, 121, 120]);
        let together = noise(&[&near, &near, &near], &[&near]);
        let apart = noise(&[&near, &far, &near], &[&near]);
        assert!(apart > together.map(|noise| noise * 10.0), "{apart:?} {together:?}");
        let more = noise(&[&near, &far, &near], &[&near, &far, &near]);
        assert!(more < apart, "{more:?} {apart:?}");
    }

    #[test]
    fn iterations_that_follow_each_other_tell_less() {
        let waves = [90, 92, 95, 98, 101, 104, 107, 109, 110, 109, 107, 104, 101, 98, 95, 92];
        let mixed = [90, 109, 92, 107, 95, 104, 98, 101, 101, 98, 104, 95, 107, 92, 109, 110];
        assert!(noise(&[&waves], &[&waves]) > noise(&[&mixed], &[&mixed]).map(|noise| noise * 1.5));
    }
}
