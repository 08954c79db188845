//! Finds the best alignments in a band around a path, and their common pairs.

use super::align::PlacePair;
use super::consensus::{NameSequences, PlaceRange, REACH};

/// Of a place that no alignment comes to.
const NOWHERE: i32 = i32::MIN / 2;

/// A row of the band: positions in `b` before a name of `a`.
#[derive(Debug, Clone, Copy)]
struct BandRow {
    first: u32,
    last: u32,
    /// Its first place, among those of all rows.
    start: usize,
}

/// The places near a path, and whether the two names after each match.
#[derive(Debug)]
pub(super) struct AlignmentBand {
    /// The place in `a` of the first row.
    first: usize,
    rows: Vec<BandRow>,
    /// Where alignments may start in the first row, and end in the last one.
    ends: [PlaceRange; 2],
    is_match: Vec<bool>,
}

impl AlignmentBand {
    /// The band around these ranges of `b`: one before each name of `a`, and one after the last.
    pub(super) fn new(names: &NameSequences<'_>, first: usize, stretches: &[PlaceRange]) -> Self {
        let ends = [stretches.first(), stretches.last()].map(|end| end.copied().unwrap_or_default());
        let mut band = Self { first, rows: Vec::with_capacity(stretches.len()), ends, is_match: Vec::new() };
        for (from, to) in stretches.iter().copied() {
            let from = from.saturating_sub(REACH as u32);
            let last = (names.b.len() as u32).min(to + REACH as u32);
            let at = (first + band.rows.len()) as u32;
            band.rows.push(BandRow { first: from, last, start: band.is_match.len() });
            band.is_match.extend((from..=last).map(|to| names.are_matching((at, to))));
        }
        band
    }

    /// The index of a place, if it is near.
    fn index(&self, row: usize, to: u32) -> Option<usize> {
        let BandRow { first, last, start } = *self.rows.get(row)?;
        (first..=last).contains(&to).then(|| start + (to - first) as usize)
    }

    /// The pairs that all alignments have that match the most names.
    pub(super) fn consensus(&self) -> Vec<PlacePair> {
        let (before, after) = (self.most_before(), self.most_after());
        let last = self.rows.len().saturating_sub(1);
        let ends = (self.ends[1].0..=self.ends[1].1).filter_map(|to| self.index(last, to));
        let most = ends.map(|at| before[at]).max().unwrap_or(0);
        let is_best = |at: usize, gain: i32, next: Option<usize>| {
            next.is_some_and(|next| before[at] + gain + after[next] == most)
        };
        let certain = |row: usize| {
            let mut pairs =
                self.places(row).filter(|(at, to)| self.is_match[*at] && is_best(*at, 1, self.index(row + 1, to + 1)));
            let (pair, other) = (pairs.next(), pairs.next());
            let is_left_out = self.places(row).any(|(at, to)| is_best(at, 0, self.index(row + 1, to)));
            let (_, to) = pair.filter(|_| other.is_none() && !is_left_out)?;
            Some(((self.first + row) as u32, to))
        };
        if most > 0 { (0..last).filter_map(certain).collect() } else { Vec::new() }
    }

    /// The places of a row: each with its index.
    fn places(&self, row: usize) -> impl Iterator<Item = (usize, u32)> + use<> {
        let BandRow { first, last, start } = self.rows[row];
        (start..).zip(first..=last)
    }

    /// How many names can be matched before each place.
    fn most_before(&self) -> Vec<i32> {
        let mut most = vec![NOWHERE; self.is_match.len()];
        for row in 0..self.rows.len() {
            for (at, to) in self.places(row) {
                let is_start = row == 0 && (self.ends[0].0..=self.ends[0].1).contains(&to);
                let above = |to: Option<u32>| self.index(row.checked_sub(1)?, to?);
                let left = if to > self.rows[row].first { most[at - 1] } else { NOWHERE };
                let skipped = above(Some(to)).map_or(NOWHERE, |above| most[above]);
                let matched = above(to.checked_sub(1)).filter(|above| self.is_match[*above]);
                let matched = matched.map_or(NOWHERE, |above| most[above] + 1);
                most[at] = left.max(skipped).max(matched).max(if is_start { 0 } else { NOWHERE });
            }
        }
        most
    }

    /// How many names can be matched after each place.
    fn most_after(&self) -> Vec<i32> {
        let mut most = vec![NOWHERE; self.is_match.len()];
        for row in (0..self.rows.len()).rev() {
            let BandRow { first, last, start } = self.rows[row];
            for to in (first..=last).rev() {
                let at = start + (to - first) as usize;
                let is_end = row + 1 == self.rows.len() && (self.ends[1].0..=self.ends[1].1).contains(&to);
                let right = if to < last { most[at + 1] } else { NOWHERE };
                let skipped = self.index(row + 1, to).map_or(NOWHERE, |below| most[below]);
                let matched = self.index(row + 1, to + 1).filter(|_| self.is_match[at]);
                let matched = matched.map_or(NOWHERE, |below| most[below] + 1);
                most[at] = right.max(skipped).max(matched).max(if is_end { 0 } else { NOWHERE });
            }
        }
        most
    }
}
