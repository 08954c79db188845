//! Finds a short sequence of names in a long one: one iteration among many.

use super::align::{GreedyAlignment, PlacePair};
use super::name_grams::{NameGrams, RUN};
use crate::sort;

/// A place where the short sequence fits.
#[derive(Debug, Clone)]
pub(super) struct SequenceFit {
    /// The first and the last place in the long sequence.
    pub(super) first: usize,
    pub(super) last: usize,
    /// How many names are the same.
    pub(super) num_matched: usize,
    /// Where each seed of the short sequence is in the long one.
    seeds: [Option<u32>; NUM_SEEDS],
}

impl SequenceFit {
    /// Names that are the same count for it, and those between them that are not against it.
    fn score(&self) -> i64 {
        2 * self.num_matched as i64 - (self.last - self.first) as i64
    }
}

/// Number of runs of the short sequence to find in the long one: some may be missing there.
const NUM_SEEDS: usize = 8;

/// How many names are compared before the search ends, for each name that there is, and at least.
const WORK_PER_NAME: usize = 128;
const MIN_WORK: usize = 1 << 22;

/// All spans that fit as well as any span they overlap, in the order of the long sequence.
pub(super) fn spans(short: &[u32], long: &[u32]) -> Vec<SequenceFit> {
    let grams = NameGrams::new(long);
    let seeds = seeds(short, &grams);
    let mut work = MIN_WORK.max((short.len() + long.len()) * WORK_PER_NAME);
    let reversed = [short, long].map(|names| names.iter().rev().copied().collect::<Vec<_>>());
    let search = FitSearch { short, long, reversed, seeds: &seeds };
    let mut found: Vec<SequenceFit> = Vec::new();
    for (nth, seed) in seeds.iter().enumerate() {
        let run = &short[*seed..*seed + RUN];
        let mut known: Vec<_> = found.iter().filter_map(|span| span.seeds[nth]).collect();
        sort::ascending(&mut known);
        for (_, place) in grams.places(run) {
            if known.binary_search(place).is_ok() || work == 0 {
                continue;
            }
            work = work.saturating_sub(2 * short.len());
            found.extend(search.extended(*seed, *place as usize));
        }
    }
    best(found)
}

/// From equal parts of the short sequence, the run that stands in the long one least often.
fn seeds(short: &[u32], grams: &NameGrams) -> Vec<usize> {
    let num_runs = (short.len() + 1).saturating_sub(RUN);
    let part = num_runs.div_ceil(NUM_SEEDS).max(1);
    let count = |seed: &usize| grams.places(&short[*seed..*seed + RUN]).len();
    let rarest = |start: usize| (start..num_runs.min(start + part)).filter(|seed| count(seed) > 0).min_by_key(count);
    let mut seeds: Vec<_> = (0..num_runs).step_by(part).filter_map(rarest).collect();
    sort::by_key(&mut seeds, count);
    seeds
}

/// More than this is not left out of an iteration of so many names that fits.
pub(super) fn room(num_names: usize) -> usize {
    num_names / 4 + RUN
}

struct FitSearch<'a> {
    short: &'a [u32],
    long: &'a [u32],
    reversed: [Vec<u32>; 2],
    seeds: &'a [usize],
}

impl FitSearch<'_> {
    /// The span around a seed that stands at a place of the long sequence.
    fn extended(&self, seed: usize, place: usize) -> Option<SequenceFit> {
        let ahead = (self.short.len() - seed, self.long.len() - place);
        let end = place + ahead.1.min(ahead.0 + room(ahead.0));
        let forward = GreedyAlignment::new(&self.short[seed..], &self.long[place..end]).run();
        let [short, long] = &self.reversed;
        let end = ahead.1 + place.min(seed + room(seed));
        let backward = GreedyAlignment::new(&short[ahead.0..], &long[ahead.1..end]).run();
        let first = backward.last().map_or(place, |(_, to)| place - 1 - *to as usize);
        let last = forward.last().map(|(_, to)| place + *to as usize)?;
        let place_of = |at: &usize| match at.checked_sub(seed) {
            Some(at) => found(&forward, at).map(|to| place as u32 + to),
            None => found(&backward, seed - 1 - at).map(|to| place as u32 - 1 - to),
        };
        let mut seeds = [None; NUM_SEEDS];
        seeds.iter_mut().zip(self.seeds).for_each(|(place, seed)| *place = place_of(seed));
        Some(SequenceFit { first, last, num_matched: forward.len() + backward.len(), seeds })
    }
}

fn found(pairs: &[PlacePair], at: usize) -> Option<u32> {
    let index = pairs.binary_search_by_key(&(at as u32), |pair| pair.0).ok()?;
    Some(pairs[index].1)
}

/// Leaves out each span that overlaps a better one.
fn best(mut spans: Vec<SequenceFit>) -> Vec<SequenceFit> {
    sort::by_key(&mut spans, |span| (span.first, span.last));
    spans.dedup_by_key(|span| (span.first, span.last));
    // Those that overlap a span start before it ends, and so come next to it.
    let mut is_best = vec![true; spans.len()];
    for (at, span) in spans.iter().enumerate() {
        for other in at + 1..spans.len() {
            if spans[other].first > span.last {
                break;
            }
            is_best[at] &= span.score() >= spans[other].score();
            is_best[other] &= spans[other].score() >= span.score();
        }
    }
    let mut is_best = is_best.into_iter();
    spans.retain(|_| is_best.next().unwrap_or_default());
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Iterations of one hundred names, the first of which is another each time.
    fn iterations(count: u32) -> Vec<u32> {
        (0..count).flat_map(|at| std::iter::once(1000 + at).chain((0..100).map(|name| name % 23))).collect()
    }

    #[test]
    fn every_iteration_is_found() {
        let long = iterations(40);
        let found = spans(&long[101 * 7 + 1..101 * 8], &long);
        let first: Vec<_> = found.iter().map(|span| span.first).collect();
        assert_eq!(first, (0..40).map(|at| at * 101 + 1).collect::<Vec<_>>());
        assert!(found.iter().all(|span| span.num_matched == 100 && span.last == span.first + 99));
    }

    #[test]
    fn the_best_of_several_overlapping_spans_stays() {
        let long = iterations(5);
        let found = spans(&long[101..303], &long);
        assert_eq!(found.iter().map(|span| (span.first, span.num_matched)).max_by_key(|span| span.1), Some((101, 202)));
        assert_eq!(spans(&[1, 2, 3], &long).len(), 0);
    }

    #[test]
    fn the_same_name_everywhere_ends_the_search_in_time() {
        let long = vec![3; 200_000];
        assert!(spans(&[3; 1000], &long).len() <= 200_000);
        assert!(spans(&[3; 20], &long).len() <= 200_000);
    }
}
