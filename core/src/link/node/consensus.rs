//! Finds the pairs that every best alignment of two sequences shares.

use std::ops::{Range, RangeInclusive};

use super::align::PlacePair;
use super::band::AlignmentBand;

/// Two sequences of names, and which places may not be matched though their names are equal.
pub(super) struct NameSequences<'a> {
    pub(super) a: &'a [u32],
    pub(super) b: &'a [u32],
    pub(super) is_contradicted: &'a dyn Fn(PlacePair) -> bool,
}

impl NameSequences<'_> {
    pub(super) fn are_matching(&self, (at, to): PlacePair) -> bool {
        self.a.get(at as usize).is_some_and(|name| self.b.get(to as usize) == Some(name))
            && !(self.is_contradicted)((at, to))
    }
}

/// The first and the last of some places in `b`.
pub(super) type PlaceRange = (u32, u32);

/// Search distance from the paths for other alignments, on either side.
pub(super) const REACH: usize = 16;

/// Where paths are further apart than this, nothing is certain.
const MAX_WIDTH: u32 = 256;

/// Block size in names of `a`, and the number of names before and after a block.
const CHUNK: usize = 1024;
const MARGIN: usize = 256;

/// A good alignment from its start to its end; where pairs are missing, it may go any way.
#[derive(Debug)]
pub(super) struct AlignmentPath {
    pub(super) pairs: Vec<PlacePair>,
    /// Where in `b` it starts and ends.
    pub(super) ends: Range<u32>,
}

impl AlignmentPath {
    /// The pairs of these places in `a`.
    fn within(&self, places: Range<usize>) -> &[PlacePair] {
        let index = |place: usize| self.pairs.partition_point(|pair| (pair.0 as usize) < place);
        &self.pairs[index(places.start)..index(places.end)]
    }

    /// Where in `b` the path may be before each of these places in `a`: the first, and the last.
    fn stretches(&self, places: RangeInclusive<usize>) -> Vec<PlaceRange> {
        let mut next = self.within(0..*places.start()).len();
        let stretch = |place: usize| {
            next += usize::from(self.pairs.get(next).is_some_and(|pair| (pair.0 as usize) < place));
            let first = next.checked_sub(1).map_or(self.ends.start, |at| self.pairs[at].1 + 1);
            (first, self.pairs.get(next).map_or(self.ends.end, |pair| pair.1))
        };
        places.map(stretch).collect()
    }
}

/// The pairs that all best alignments near two good ones have; they start and end where those do,
/// or `slack` beside it.
///
/// A pair is one of them if no best alignment leaves out its name of `a` or matches it with
/// another. This is looked at only where the two differ or leave anything out, so that it takes
/// linear time, and memory for one chunk.
pub(super) fn consensus(names: &NameSequences<'_>, paths: &[AlignmentPath; 2], slack: u32) -> Vec<PlacePair> {
    let len = names.a.len();
    let mut pairs = Vec::new();
    for start in (0..len).step_by(CHUNK) {
        let core = start..len.min(start + CHUNK);
        let around = start.saturating_sub(MARGIN)..len.min(core.end + MARGIN);
        let [first, second] = [0, 1].map(|at| paths[at].within(around.clone()));
        if first == second && is_straight(first, around.len()) {
            pairs.extend_from_slice(paths[0].within(core));
            continue;
        }
        let stretches = stretches(names, paths, around.clone(), slack);
        for part in parts(&stretches) {
            let row = |pair: &PlacePair| pair.0 as usize - around.start;
            // Two ways with different starts or ends cannot be compared here.
            let is_closed = stretches[part.start].is_one && stretches[part.end - 1].is_one;
            let is_shared = |pair: &PlacePair| [first, second].iter().all(|pairs| pairs.binary_search(pair).is_ok());
            let is_near = |pair: &PlacePair| !(stretches[row(pair)].is_wide() && stretches[row(pair) + 1].is_wide());
            let is_told =
                |pair: &PlacePair| core.contains(&(pair.0 as usize)) && is_near(pair) && (is_closed || is_shared(pair));
            let places: Vec<_> = stretches[part.clone()].iter().map(|stretch| stretch.places).collect();
            let band = AlignmentBand::new(names, around.start + part.start, &places);
            pairs.extend(band.consensus().into_iter().filter(is_told));
        }
    }
    pairs
}

/// Whether neither side leaves anything out.
fn is_straight(pairs: &[PlacePair], len: usize) -> bool {
    let ends = pairs.first().zip(pairs.last());
    pairs.len() == len && ends.is_some_and(|(first, last)| (last.1 - first.1) as usize == len - 1)
}

/// The gap between two paths, between two names of `a`.
#[derive(Debug)]
struct UncertainStretch {
    /// Where in `b` either may be: the first place, and the last.
    places: PlaceRange,
    /// Whether both may be there.
    is_one: bool,
}

impl UncertainStretch {
    fn is_wide(&self) -> bool {
        self.places.1 - self.places.0 > MAX_WIDTH
    }
}

/// The stretches before each of these places in `a`, and after the last.
fn stretches(
    names: &NameSequences<'_>,
    paths: &[AlignmentPath; 2],
    around: Range<usize>,
    slack: u32,
) -> Vec<UncertainStretch> {
    let [first, second] = [0, 1].map(|at| paths[at].stretches(around.start..=around.end));
    let last = names.b.len() as u32;
    let stretch = |(place, (one, other)): (usize, (PlaceRange, PlaceRange))| {
        let is_end = place == 0 || place == names.a.len();
        let slack = if is_end { slack } else { 0 };
        let places = (one.0.min(other.0).saturating_sub(slack), last.min(one.1.max(other.1) + slack));
        UncertainStretch { places, is_one: is_end || one == other }
    };
    (around.start..).zip(first.into_iter().zip(second)).map(stretch).collect()
}

/// Splits at ranges that are too wide, with some margin: their neighbours may belong to them.
fn parts(stretches: &[UncertainStretch]) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut next = 0;
    while let Some(start) = (next..stretches.len()).find(|at| !stretches[*at].is_wide()) {
        next = (start..stretches.len()).find(|at| stretches[*at].is_wide()).unwrap_or(stretches.len());
        let is_wide = |at: &usize| stretches[*at].is_wide();
        let before = (0..start).rev().take(REACH).take_while(is_wide).count();
        let after = (next..stretches.len()).take(REACH).take_while(is_wide).count();
        parts.push(start - before..next + after);
    }
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::align::align;
    use super::*;

    /// All alignments from these positions on with the most matches.
    fn best(names: &NameSequences<'_>, (at, to): PlacePair) -> Vec<Vec<PlacePair>> {
        if at as usize == names.a.len() || to as usize == names.b.len() {
            return vec![Vec::new()];
        }
        let mut all = [best(names, (at + 1, to)), best(names, (at, to + 1))].concat();
        if names.are_matching((at, to)) {
            let rest = best(names, (at + 1, to + 1)).into_iter();
            all.extend(rest.map(|rest| [vec![(at, to)], rest].concat()));
        }
        let most = all.iter().map(Vec::len).max().unwrap_or(0);
        all.retain(|pairs| pairs.len() == most);
        all.sort();
        all.dedup();
        all
    }

    fn in_all(alignments: &[Vec<PlacePair>]) -> Vec<PlacePair> {
        let is_in_all = |pair: &PlacePair| alignments.iter().all(|pairs| pairs.contains(pair));
        alignments.first().into_iter().flatten().copied().filter(is_in_all).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn what_is_certain_is_what_all_best_alignments_have(
            a in prop::collection::vec(0..3_u32, 0..8), b in prop::collection::vec(0..3_u32, 0..8), contradicted in any::<u64>()
        ) {
            for contradicted in [0, contradicted & contradicted.rotate_left(7)] {
                let is_contradicted = |(at, to): PlacePair| contradicted >> ((at * 8 + to) % 64) & 1 == 1;
                let names = NameSequences { a: &a, b: &b, is_contradicted: &is_contradicted };
                let (expected, found) = (best(&names, (0, 0)), align(&names, 0..b.len(), 0));
                prop_assert_eq!(&found.certain, &in_all(&expected));
                prop_assert!(found.num_matched as usize <= expected[0].len());
            }
        }

        #[test]
        fn of_calls_that_repeat_none_is_taken_for_another(
            period in 1..15_usize, lost in prop::collection::vec(0..2000_usize, 0..60), num_names in 1..5_u32
        ) {
            let a: Vec<_> = (0..2000).map(|at| (at % period) as u32 % num_names).collect();
            let kept: Vec<_> = (0..a.len()).filter(|at| !lost.contains(at)).collect();
            let b: Vec<_> = kept.iter().map(|at| a[*at]).collect();
            for names in [NameSequences { a: &a, b: &b, is_contradicted: &|_| false }, NameSequences { a: &b, b: &a, is_contradicted: &|_| false }] {
                let is_part = names.a.len() < names.b.len();
                for (at, to) in align(&names, 0..names.b.len(), 0).certain {
                    let (at, to) = if is_part { (to, at) } else { (at, to) };
                    prop_assert_eq!(kept[to as usize], at as usize);
                }
            }
        }
    }

    #[test]
    fn shapes_tell_equal_calls_apart() {
        let shapes = [1, 2, 3, 4, 5];
        let is_contradicted = |(at, to): PlacePair| shapes[at as usize] != [1, 2, 4, 5][to as usize];
        let names = NameSequences { a: &[7; 5], b: &[7; 4], is_contradicted: &is_contradicted };
        assert_eq!(align(&names, 0..4, 0).certain, [(0, 0), (1, 1), (3, 2), (4, 3)]);
    }
}
