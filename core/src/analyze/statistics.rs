//! What is said of many durations at once.

/// The sample standard deviation; `None` of fewer than two.
///
/// `sqrt(Σ (x − mean)² / (n − 1))`
pub(super) fn deviation(values: &[i64]) -> Option<f64> {
    let count = values.len() as f64;
    if values.len() < 2 {
        return None;
    }
    let mean = values.iter().map(|value| *value as f64).sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (*value as f64 - mean).powi(2)).sum();
    Some((squares / (count - 1.0)).sqrt())
}
