//! Aligns two sequences of names; time grows linearly with their length.

use std::cell::OnceCell;
use std::ops::Range;

use super::consensus::{AlignmentPath, NameSequences, REACH, consensus};
use super::name_grams::NameGrams;

/// Places that belong together: in the first sequence, in the second.
pub(super) type PlacePair = (u32, u32);

/// How much of both sequences is compared at a time.
const BLOCK: usize = 256;

/// How many names may be missing on either side of a block before a new place to go on from is
/// looked for.
const MAX_EDITS: usize = 64;

/// An alignment of two sequences.
#[derive(Debug, Default)]
pub(super) struct Alignment {
    /// Pairs in every best alignment.
    pub(super) certain: Vec<PlacePair>,
    /// How many names could be matched, in one way or another.
    pub(super) num_matched: u32,
}

/// Aligns all of `a` with the range `within` of `b`, or up to `room` names before and after it.
///
/// Matches each name as early as possible from the front and as late as possible from the back.
/// Searches near both alignments, and keeps their common pairs.
pub(super) fn align(names: &NameSequences<'_>, within: Range<usize>, room: usize) -> Alignment {
    let (first, last) = (within.start as u32, within.end as u32);
    let pairs = forward(names, within.start..names.b.len().min(within.end + room));
    if pairs.len() == names.a.len() && pairs.len() == within.len() {
        return Alignment { num_matched: pairs.len() as u32, certain: pairs };
    }
    let end = pairs.last().map_or(last, |pair| last.max(pair.1 + 1));
    let forward = AlignmentPath { pairs, ends: first..end };
    let pairs = backward(names, within.start.saturating_sub(room)..within.end);
    let start = pairs.first().map_or(first, |pair| first.min(pair.1));
    let backward = AlignmentPath { pairs, ends: start..last };
    let num_matched = forward.pairs.len().max(backward.pairs.len());
    let certain = consensus(names, &[forward, backward], if room > 0 { REACH as u32 } else { 0 });
    Alignment { num_matched: num_matched.max(certain.len()) as u32, certain }
}

fn forward(names: &NameSequences<'_>, within: Range<usize>) -> Vec<PlacePair> {
    let pairs = GreedyAlignment::new(names.a, &names.b[within.clone()]).run();
    let pairs = pairs.into_iter().map(|(at, to)| (at, to + within.start as u32));
    pairs.filter(|pair| names.are_matching(*pair)).collect()
}

fn backward(names: &NameSequences<'_>, within: Range<usize>) -> Vec<PlacePair> {
    let [a, b] = [names.a, &names.b[within.clone()]].map(|names| names.iter().rev().copied().collect::<Vec<_>>());
    let pairs = GreedyAlignment::new(&a, &b).run();
    let turned = |(at, to): (u32, u32)| (a.len() as u32 - 1 - at, within.end as u32 - 1 - to);
    pairs.into_iter().rev().map(turned).filter(|pair| names.are_matching(*pair)).collect()
}

/// Matches two sequences from their start, each name as early as it can be.
pub(super) struct GreedyAlignment<'a> {
    a: &'a [u32],
    b: &'a [u32],
    grams: OnceCell<NameGrams>,
    edits: EditScript,
    pairs: Vec<PlacePair>,
}

impl<'a> GreedyAlignment<'a> {
    pub(super) fn new(a: &'a [u32], b: &'a [u32]) -> Self {
        Self { a, b, grams: OnceCell::new(), edits: EditScript::default(), pairs: Vec::new() }
    }

    pub(super) fn run(mut self) -> Vec<PlacePair> {
        let mut at = (0, 0);
        while at.0 < self.a.len() && at.1 < self.b.len() {
            if self.a[at.0] == self.b[at.1] {
                self.pairs.push((at.0 as u32, at.1 as u32));
                at = (at.0 + 1, at.1 + 1);
            } else if let Some(next) = self.pass(at).or_else(|| self.jump(at)) {
                at = next;
            } else {
                break;
            }
        }
        self.pairs
    }

    /// Matches the first half of a block and says where it ends; `None` when the block has too
    /// little in common.
    fn pass(&mut self, (i, j): (usize, usize)) -> Option<(usize, usize)> {
        let ends = (self.a.len().min(i + BLOCK), self.b.len().min(j + BLOCK));
        let is_last = ends == (self.a.len(), self.b.len());
        let matched = self.edits.matches(&self.a[i..ends.0], &self.b[j..ends.1])?;
        // Pairs near the block's end may change with more context.
        let half = if is_last { BLOCK } else { BLOCK / 2 };
        let kept = matched.partition_point(|(x, y)| (*x as usize) < half && (*y as usize) < half);
        let (x, y) = *matched[..kept].last()?;
        self.pairs.extend(matched[..kept].iter().map(|(x, y)| (i as u32 + x, j as u32 + y)));
        Some((i + x as usize + 1, j + y as usize + 1))
    }

    /// The nearest place to go on from where a whole run of names is the same.
    fn jump(&self, (i, j): (usize, usize)) -> Option<(usize, usize)> {
        let grams = self.grams.get_or_init(|| NameGrams::new(self.b));
        // Runs that only hash alike are no place to go on from.
        grams.nearest(self.a, i, j).filter(|next| *next != (i, j))
    }
}

/// The fewest names left out on either side (Myers' algorithm), for short sequences.
#[derive(Default)]
struct EditScript {
    /// For each number of edits, the furthest place in `a` on each diagonal.
    reached: Vec<[u32; 2 * MAX_EDITS + 3]>,
}

/// The diagonal 0 in a row of [`EditScript::reached`].
const MIDDLE: usize = MAX_EDITS + 1;

impl EditScript {
    /// Places that belong together, until one of the sequences ends; `None` when too much differs.
    fn matches(&mut self, a: &[u32], b: &[u32]) -> Option<Vec<PlacePair>> {
        self.reached.clear();
        for edits in 0..=MAX_EDITS {
            let before = self.reached.last().copied();
            let mut row = [0; 2 * MAX_EDITS + 3];
            let mut end = None;
            for diagonal in (MIDDLE - edits..=MIDDLE + edits).step_by(2) {
                let start = before.map_or(0, |before| step(&before, diagonal, edits).1);
                let Some(mut y) = (start as usize + MIDDLE).checked_sub(diagonal) else { continue };
                let mut x = start as usize;
                while x < a.len() && y < b.len() && a[x] == b[y] {
                    (x, y) = (x + 1, y + 1);
                }
                row[diagonal] = x as u32;
                if x >= a.len() || y >= b.len() {
                    end = end.max(Some((x + y, diagonal)));
                }
            }
            self.reached.push(row);
            if let Some((_, diagonal)) = end {
                return Some(self.path(diagonal));
            }
        }
        None
    }

    /// Walks a diagonal back from the end, and lists the matches.
    fn path(&self, mut diagonal: usize) -> Vec<PlacePair> {
        let mut pairs = Vec::new();
        for edits in (0..self.reached.len()).rev() {
            let (from, start) = match edits.checked_sub(1) {
                Some(before) => step(&self.reached[before], diagonal, edits),
                None => (diagonal, 0),
            };
            let end = self.reached[edits][diagonal];
            pairs.extend((start..end).rev().map(|x| (x, (x as usize + MIDDLE - diagonal) as u32)));
            diagonal = from;
        }
        pairs.reverse();
        pairs
    }
}

/// With one edit more, from which diagonal one comes to this one, and to which place in `a`.
fn step(before: &[u32; 2 * MAX_EDITS + 3], diagonal: usize, edits: usize) -> (usize, u32) {
    let is_lowest = diagonal == MIDDLE - edits;
    let is_highest = diagonal == MIDDLE + edits;
    if is_lowest || (!is_highest && before[diagonal - 1] < before[diagonal + 1]) {
        (diagonal + 1, before[diagonal + 1])
    } else {
        (diagonal - 1, before[diagonal - 1] + 1)
    }
}

/// Aligns two sequences: ascending positions in both, each as early as possible.
pub(crate) fn aligned(a: &[u32], b: &[u32]) -> Vec<(u32, u32)> {
    GreedyAlignment::new(a, b).run()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn align(a: &[u32], b: &[u32]) -> Vec<PlacePair> {
        super::align(&NameSequences { a, b, is_contradicted: &|_| false }, 0..b.len(), 0).certain
    }

    /// Names that come in no order.
    fn random(num_names: u32) -> impl FnMut() -> u32 {
        let mut state = 1_u64;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32 % num_names
        }
    }

    #[test]
    fn what_could_be_matched_otherwise_is_left_out() {
        assert_eq!(align(&[1, 2, 3], &[1, 3]), [(0, 0), (2, 1)]);
        assert_eq!(align(&[1, 2, 2, 3], &[1, 2, 3]), [(0, 0), (3, 2)]);
        assert_eq!(align(&[7; 9], &[7; 9]).len(), 9);
        assert_eq!(align(&[7; 9], &[7; 8]), []);
        assert_eq!(align(&[], &[1]), []);
    }

    #[test]
    fn long_gaps_are_passed() {
        let mut random = random(97);
        let names: Vec<u32> = (0..4000).map(|_| random()).collect();
        let shorter: Vec<u32> = [&names[..1000], &names[2500..]].concat();
        let pairs = align(&names, &shorter);
        assert!(pairs.len() > 2300, "{}", pairs.len());
        assert!(pairs.iter().all(|(a, b)| a == b || *a == b + 1500));
    }

    #[test]
    fn hostile_sequences_take_no_quadratic_time() {
        for num_names in [1, 2, 3, 50, 1000] {
            let mut random = random(num_names);
            let [a, b] = [200_000, 150_000].map(|len| (0..len).map(|_| random()).collect::<Vec<_>>());
            assert!(align(&a, &b).len() <= b.len());
        }
    }

    proptest! {
        #[test]
        fn pairs_ascend_and_have_one_name(
            a in prop::collection::vec(0..6_u32, 0..700), b in prop::collection::vec(0..6_u32, 0..700)
        ) {
            let pairs = align(&a, &b);
            prop_assert!(pairs.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1));
            prop_assert!(pairs.iter().all(|(x, y)| a[*x as usize] == b[*y as usize]));
        }

        #[test]
        fn a_part_is_found_where_it_was(
            a in prop::collection::vec(0..20_u32, 0..1500), gaps in prop::collection::vec(any::<prop::sample::Index>(), 0..40)
        ) {
            let gaps: Vec<_> = gaps.iter().filter(|_| !a.is_empty()).map(|gap| gap.index(a.len())).collect();
            let kept: Vec<_> = (0..a.len()).filter(|at| !gaps.contains(at)).collect();
            let b: Vec<_> = kept.iter().map(|at| a[*at]).collect();
            prop_assert!(align(&a, &b).iter().all(|(x, y)| kept[*y as usize] == *x as usize));
        }
    }
}
