//! Statistics of durations.

use crate::sort;
use crate::time::sum_ns;

/// Durations of the same thing, together and apart; all 0 of none.
#[derive(Debug, Clone, Copy)]
pub(super) struct Durations {
    pub count: u64,
    pub total_ns: i64,
    /// Rounded down.
    pub mean_ns: i64,
    pub std_ns: Option<f64>,
    pub min_ns: i64,
    pub max_ns: i64,
}

impl Durations {
    pub(super) fn of(durs: &[i64]) -> Self {
        let total_ns = sum_ns(durs.iter().copied());
        Self {
            count: durs.len() as u64,
            total_ns,
            mean_ns: total_ns / (durs.len() as i64).max(1),
            std_ns: deviation(durs),
            min_ns: durs.iter().copied().min().unwrap_or(0),
            max_ns: durs.iter().copied().max().unwrap_or(0),
        }
    }
}

/// The lower one of two; 0 of none.
pub(super) fn median(values: impl Iterator<Item = i64>) -> i64 {
    let mut values: Vec<_> = values.collect();
    sort::ascending(&mut values);
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(0)
}

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
