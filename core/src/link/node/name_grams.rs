//! Hashes runs of names, to find them anywhere in a sequence.

use crate::sort;

/// How many names are a run.
pub(super) const RUN: usize = 8;

/// All runs of a sequence, sorted by hash and then position.
pub(super) struct NameGrams(Vec<(u64, u32)>);

impl NameGrams {
    pub(super) fn new(names: &[u32]) -> Self {
        let mut grams: Vec<_> = names.windows(RUN).map(hash).zip(0..).collect();
        sort::ascending(&mut grams);
        Self(grams)
    }

    /// Where a run stands.
    pub(super) fn places(&self, run: &[u32]) -> &[(u64, u32)] {
        let hash = hash(run);
        let start = self.0.partition_point(|(other, _)| *other < hash);
        let len = self.0[start..].partition_point(|(other, _)| *other == hash);
        &self.0[start..start + len]
    }

    /// The nearest places from `i` in `a` and from `j` in this sequence at which the same run
    /// starts.
    pub(super) fn nearest(&self, a: &[u32], i: usize, j: usize) -> Option<(usize, usize)> {
        let mut best: Option<(usize, (usize, usize))> = None;
        for (skipped, run) in a[i..].windows(RUN).enumerate() {
            if best.is_some_and(|(distance, _)| skipped >= distance) {
                break;
            }
            let key = (hash(run), j as u32);
            let first = self.0.partition_point(|gram| *gram < key);
            let Some((_, place)) = self.0.get(first).filter(|gram| gram.0 == key.0) else { continue };
            let distance = skipped + (*place as usize - j);
            if best.is_none_or(|(other, _)| distance < other) {
                best = Some((distance, (i + skipped, *place as usize)));
            }
        }
        best.map(|(_, place)| place)
    }
}

/// Mixes the names of a run; no order depends on it but that of equal runs beside each other.
fn hash(run: &[u32]) -> u64 {
    run.iter().fold(0, |hash: u64, name| (hash.rotate_left(5) ^ u64::from(*name)).wrapping_mul(0x517c_c1b7_2722_0a95))
}
