//! Tests whether two samples differ by more than chance.

use super::step_times::StepTimes;

/// The probability that samples of one mean differ by as much as these: Welch's test, of two sides.
///
/// `t = (mean(b) − mean(a)) / sqrt(var(a)/n(a) + var(b)/n(b))`, with the degrees of freedom of
/// Welch and Satterthwaite. `None` where a sample has fewer than two values.
pub(super) fn p_value(a: &StepTimes, b: &StepTimes) -> Option<f64> {
    if a.num_steps() < 2 || b.num_steps() < 2 {
        return None;
    }
    let ((mean_a, error_a), (mean_b, error_b)) = (mean_and_error(a), mean_and_error(b));
    let error = error_a + error_b;
    if error == 0.0 {
        // All values of each are equal.
        let [first, second] = [(a, b), (b, a)].map(|(one, other)| i128::from(one.sum()) * other.num_steps() as i128);
        return Some(if first == second { 1.0 } else { 0.0 });
    }
    let freedom = |error: f64, len: usize| error * error / (len as f64 - 1.0);
    let freedom = error * error / (freedom(error_a, a.num_steps()) + freedom(error_b, b.num_steps()));
    let t = (mean_b - mean_a) / error.sqrt();
    Some(two_sided_p_value(t, freedom))
}

/// The probability that Student's distribution is as far from 0 as `t`.
fn two_sided_p_value(t: f64, freedom: f64) -> f64 {
    incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5)
}

/// The probability that Student's distribution is above `t`.
#[cfg(feature = "gates")]
pub(super) fn one_sided_p_value(t: f64, freedom: f64) -> f64 {
    let tail = two_sided_p_value(t, freedom) / 2.0;
    if t < 0.0 { 1.0 - tail } else { tail }
}

/// The mean, and the variance over the number of values.
fn mean_and_error(values: &StepTimes) -> (f64, f64) {
    let (count, times) = (values.num_steps() as f64, values.times());
    let mean = times.iter().map(|(_, ns)| *ns as f64).sum::<f64>() / count;
    let squares: f64 = times.iter().map(|(_, ns)| (*ns as f64 - mean).powi(2)).sum();
    let num_zero = values.num_steps().saturating_sub(times.len()) as f64;
    (mean, (squares + num_zero * mean * mean) / (count - 1.0) / count)
}

/// The regularised incomplete beta function, by its continued fraction (Abramowitz and Stegun
/// 26.5.8).
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // It converges fast on one side; the other is its mirror.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta_near(1.0 - x, b, a);
    }
    incomplete_beta_near(x, a, b)
}

fn incomplete_beta_near(x: f64, a: f64, b: f64) -> f64 {
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp() / a;
    let term = |m: f64| {
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        (even, odd)
    };
    let fraction = (0..MAX_TERMS).rev().fold(0.0, |rest, m| {
        let (even, odd) = term(f64::from(m));
        let inner = 1.0 + odd / (1.0 + rest);
        if m == 0 { inner } else { even / inner }
    });
    front / fraction
}

/// Enough for 12 digits with up to thousands of iterations.
const MAX_TERMS: u32 = 200;

/// The logarithm of the gamma function, by Lanczos' approximation (g = 5).
fn ln_gamma(x: f64) -> f64 {
    const FACTORS: [f64; 6] = [
        76.180_091_729_471_46,
        -86.505_320_329_416_77,
        24.014_098_240_830_91,
        -1.231_739_572_450_155,
        0.001_208_650_973_866_179,
        -0.000_005_395_239_384_953,
    ];
    let sum = (1..).zip(FACTORS).fold(1.000_000_000_190_015, |sum, (at, factor)| sum + factor / (x + f64::from(at)));
    let base = x + 5.5;
    (x + 0.5) * base.ln() - base + (2.506_628_274_631_000_5 * sum / x).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_welchs_test() {
        // The figures are those of scipy.stats.ttest_ind(equal_var=False).
        let p_value = |a: &[i64], b: &[i64]| p_value(&a.to_vec().into(), &b.to_vec().into());
        let a = [100, 102, 98, 101, 99];
        for (b, expected) in [
            ([110, 112, 108, 111, 109].as_slice(), 8.488_245_682_9e-6),
            ([101, 103, 99, 102, 100].as_slice(), 0.346_593_507_1),
            ([100, 150].as_slice(), 0.499_886_8),
        ] {
            let found = p_value(&a, b).unwrap_or(2.0);
            assert!((found - expected).abs() < 1e-3 * expected.max(1e-3), "{found} {expected}");
        }
        assert_eq!(p_value(&a, &[7]), None);
        assert_eq!(p_value(&[5, 5], &[5, 5]), Some(1.0));
        assert_eq!(p_value(&[5, 5], &[6, 6]), Some(0.0));
    }
}
