//! Numbers the traces of each rank.

use rustc_hash::FxHashMap;

/// Index of each trace among those of its rank, from 0.
pub(crate) fn windows(ranks: &[Option<i64>]) -> Vec<i64> {
    let mut next: FxHashMap<Option<i64>, i64> = FxHashMap::default();
    let window = |rank: &Option<i64>| {
        let next = next.entry(*rank).or_default();
        *next += 1;
        *next - 1
    };
    ranks.iter().map(window).collect()
}
