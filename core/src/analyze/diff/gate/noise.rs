//! Measures how much a mean changes by chance: between iterations, and between runs.

use super::super::significance::one_sided_p_value;

/// The values of one metric, by iteration, of each run of one side.
pub(in crate::analyze::diff) type RunValues = Vec<Vec<i64>>;

/// Chance makes a change as large in one of so many comparisons of equal runs.
const FALSE_ALARMS: f64 = 500.0;

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
    /// Of the means of runs; none with one run.
    between: Option<Variance>,
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
    /// The variance of the change is
    /// `V = Σ over sides (max(0, S² − W) / k + W / k)`. A side has `k` runs; `S²` is the variance of
    /// their means. `W` is the mean over runs of `s² / n · (1 + r) / (1 − r)`, with the variance
    /// `s²` of `n` iterations and the correlation `r` of neighbours, at least 0. A side with one run
    /// takes `S² − W` from the other one. `noise = t · sqrt(V)` with Student's quantile for
    /// `1 / (500 · num_compared)` and the degrees of freedom of Welch and Satterthwaite.
    pub(super) fn of([before, after]: [&RunValues; 2], num_compared: usize) -> Option<Self> {
        let (before, after) = (SideSpread::of(before)?, SideSpread::of(after)?);
        let (one, other) = (before.mean, after.mean);
        let Some(variance) = variance([&before, &after]) else {
            return Some(Self { before: one, after: other, noise: None, p_value: None });
        };
        let error = variance.value.sqrt();
        let freedom = variance.freedom.min(MAX_FREEDOM);
        let change = other - one;
        let alpha = 1.0 / FALSE_ALARMS / num_compared.max(1) as f64;
        let noise = if error > 0.0 { quantile(alpha, freedom) * error } else { 0.0 };
        let p_value = if error > 0.0 {
            one_sided_p_value(change / error, freedom)
        } else if change == 0.0 {
            0.5
        } else {
            f64::from(u8::from(change < 0.0))
        };
        Some(Self { before: one, after: other, noise: Some(noise), p_value: Some(p_value) })
    }

    pub(super) fn change(&self) -> f64 {
        self.after - self.before
    }
}

impl SideSpread {
    fn of(runs: &RunValues) -> Option<Self> {
        let means: Vec<f64> = runs.iter().map(|values| mean(values)).collect::<Option<_>>()?;
        let floats = means.len() as f64;
        let own = means.iter().sum::<f64>() / floats;
        let within: Option<Vec<Variance>> = runs.iter().map(|values| variance_of_mean(values)).collect();
        let within = within.map(|each| Variance {
            value: each.iter().map(|one| one.value).sum::<f64>() / floats,
            freedom: each.iter().map(|one| one.freedom).sum(),
        });
        let squares: f64 = means.iter().map(|mean| (mean - own).powi(2)).sum();
        let between = (means.len() > 1).then(|| Variance { value: squares / (floats - 1.0), freedom: floats - 1.0 });
        (!runs.is_empty()).then_some(Self { mean: own, num_runs: floats, within, between })
    }

    /// Of the means of runs, beyond that by iterations.
    fn between_alone(&self) -> Option<Variance> {
        let within = self.within.map_or(0.0, |within| within.value);
        Some(Variance { value: (self.between?.value - within).max(0.0), ..self.between? })
    }
}

/// The variance of the difference of both means; `None` where nothing tells it.
fn variance(sides: [&SideSpread; 2]) -> Option<Variance> {
    let runs = sides.map(SideSpread::between_alone);
    if sides.iter().any(|side| side.within.is_none()) && runs.iter().all(Option::is_none) {
        return None;
    }
    let mut parts: Vec<Variance> = sides
        .iter()
        .filter_map(|side| Some(Variance { value: side.within?.value / side.num_runs, ..side.within? }))
        .collect();
    match runs {
        [Some(before), Some(after)] => {
            for (side, own) in sides.iter().zip([before, after]) {
                parts.push(Variance { value: own.value / side.num_runs, ..own });
            }
        }
        [Some(one), None] | [None, Some(one)] => {
            let share: f64 = sides.iter().map(|side| side.num_runs.recip()).sum();
            parts.push(Variance { value: one.value * share, ..one });
        }
        [None, None] => {}
    }
    let value: f64 = parts.iter().map(|part| part.value).sum();
    let squares: f64 = parts.iter().map(|part| part.value.powi(2) / part.freedom).sum();
    Some(Variance { value, freedom: if squares > 0.0 { value * value / squares } else { MAX_FREEDOM } })
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
        for (alpha, freedom, expected) in [(0.002, 10.0, 3.716), (0.01, 3.5, 4.091_7), (0.002, 1.0, 159.15)] {
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
    }

    #[test]
    fn iterations_that_follow_each_other_tell_less() {
        let waves = [90, 92, 95, 98, 101, 104, 107, 109, 110, 109, 107, 104, 101, 98, 95, 92];
        let mixed = [90, 109, 92, 107, 95, 104, 98, 101, 101, 98, 104, 95, 107, 92, 109, 110];
        assert!(noise(&[&waves], &[&waves]) > noise(&[&mixed], &[&mixed]).map(|noise| noise * 1.5));
    }
}
