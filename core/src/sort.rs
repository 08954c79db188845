//! Sorts through one instantiation of the standard sort, because each instantiation adds kilobytes
//! to every page. Sorts that run in every read have their own instantiation.

use std::cmp::Ordering;

/// Sorts by a key; equal items stay in their order.
pub(crate) fn by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    by(items, |a, b| key(a).cmp(&key(b)));
}

/// Sorts by the items themselves.
pub(crate) fn ascending<T: Ord>(items: &mut [T]) {
    by(items, T::cmp);
}

/// The distinct items, in their order.
pub(crate) fn distinct<T: Ord>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.into_iter().collect();
    ascending(&mut items);
    items.dedup();
    items
}

/// Sorts by a comparison; equal items stay in their order.
pub(crate) fn by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    if items.len() <= FEW {
        return insert(items, compare);
    }
    let mut order = order(items.len(), &|a, b| compare(&items[a as usize], &items[b as usize]));
    for start in 0..order.len() {
        let mut at = start;
        while order[at] as usize != start {
            let next = order[at] as usize;
            items.swap(at, next);
            order[at] = at as u32;
            at = next;
        }
        order[at] = at as u32;
    }
}

/// Sorts rows that are mostly in the order of their keys, in a few runs one after another, as
/// profilers write them. Equal ones stay in their order.
///
/// Takes each key once where runs are merged: it costs more to find than to compare.
pub(crate) fn runs_by_key<K: Ord + Copy>(rows: &mut [u32], key: impl Fn(u32) -> K) {
    let mut starts: Vec<usize> = Vec::new();
    let mut left = Vec::new();
    let mut end = 0;
    while end < rows.len() {
        starts.push(end);
        let mut last = key(rows[end]);
        end += 1;
        while let Some(next) = rows.get(end).map(|row| key(*row)).filter(|next| last <= *next) {
            last = next;
            end += 1;
        }
        // Runs of like lengths are merged, so that no row is merged too often.
        while let [.., first, second] = starts[..]
            && second - first <= 2 * (end - second)
        {
            merge(&mut rows[first..end], second - first, &mut left, &key);
            starts.pop();
        }
    }
    while let [.., first, second] = starts[..] {
        merge(&mut rows[first..], second - first, &mut left, &key);
        starts.pop();
    }
}

/// Merges two sorted runs, of which the second begins at `middle`. `left` is room for the first.
fn merge<K: Ord + Copy>(rows: &mut [u32], middle: usize, left: &mut Vec<u32>, key: &impl Fn(u32) -> K) {
    let mut right_key = key(rows[middle]);
    let mut to = rows[..middle].partition_point(|row| key(*row) <= right_key);
    let mut right = middle;
    left.clear();
    left.extend_from_slice(&rows[to..middle]);
    for (at, row) in left.iter().enumerate() {
        let left_key = key(*row);
        while right_key < left_key {
            rows[to] = rows[right];
            (to, right) = (to + 1, right + 1);
            let Some(next) = rows.get(right) else {
                rows[to..].copy_from_slice(&left[at..]);
                return;
            };
            right_key = key(*next);
        }
        rows[to] = *row;
        to += 1;
    }
}

/// The places of keys in the order of these; places of equal keys ascend.
///
/// Counts digits where there are many, so it takes no more time than a few passes over them.
pub(crate) fn places(keys: &[i64]) -> Vec<u32> {
    if keys.is_sorted() {
        return (0..keys.len() as u32).collect();
    }
    if keys.len() < WORTH_COUNTING {
        return order(keys.len(), &|a, b| keys[a as usize].cmp(&keys[b as usize]));
    }
    let least = keys.iter().copied().min().unwrap_or(0);
    let above = |place: u32| keys[place as usize].wrapping_sub(least) as u64;
    let most = (0..keys.len() as u32).map(above).max().unwrap_or(0);
    let mut places: Vec<u32> = (0..keys.len() as u32).collect();
    let mut sorted = vec![0; keys.len()];
    for shift in (0..u64::BITS - most.leading_zeros()).step_by(DIGIT.trailing_ones() as usize) {
        let digit = |place: u32| (above(place) >> shift) as usize & DIGIT;
        let mut next = [0_u32; DIGIT + 2];
        places.iter().for_each(|place| next[digit(*place) + 1] += 1);
        (1..next.len()).for_each(|at| next[at] += next[at - 1]);
        for place in &places {
            let at = &mut next[digit(*place)];
            sorted[*at as usize] = *place;
            *at += 1;
        }
        std::mem::swap(&mut places, &mut sorted);
    }
    places
}

/// Fewer keys are compared before the digits would have been counted.
const WORTH_COUNTING: usize = 500;
/// The largest digit: eleven bits, so that the counts stay in a processor's nearest memory.
const DIGIT: usize = (1 << 11) - 1;

/// So many are sorted in place.
const FEW: usize = 8;

fn insert<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    for last in 1..items.len() {
        let mut at = last;
        while at > 0 && compare(&items[at - 1], &items[at]).is_gt() {
            items.swap(at - 1, at);
            at -= 1;
        }
    }
}

/// The positions `0..len`, sorted by value.
pub(crate) fn order(len: usize, compare: &dyn Fn(u32, u32) -> Ordering) -> Vec<u32> {
    let mut places: Vec<u32> = (0..len as u32).collect();
    places.sort_by(|a, b| compare(*a, *b));
    places
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The places of keys, as the stable sort of the library gives them.
    fn stable<K: Ord + Copy>(keys: &[K]) -> Vec<u32> {
        let mut rows: Vec<u32> = (0..keys.len() as u32).collect();
        rows.sort_by_key(|row| keys[*row as usize]);
        rows
    }

    fn by_runs<K: Ord + Copy>(keys: &[K]) -> Vec<u32> {
        let mut rows: Vec<u32> = (0..keys.len() as u32).collect();
        runs_by_key(&mut rows, |row| keys[row as usize]);
        rows
    }

    proptest! {
        #[test]
        fn places_of_keys_are_those_of_a_stable_sort(
            keys in prop::collection::vec(any::<i64>(), 0..20),
            times in 1..100_usize,
            narrow in any::<bool>(),
        ) {
            let keys: Vec<i64> = keys.iter().cycle().take(keys.len() * times).map(|key| if narrow { key % 5_000 } else { *key }).collect();
            prop_assert_eq!(places(&keys), stable(&keys));
        }

        #[test]
        fn runs_are_merged_as_a_stable_sort_does(keys in prop::collection::vec(prop::collection::vec(0..50_u8, 0..30), 0..12)) {
            let sorted = |keys: Vec<u8>| { let mut keys = keys; keys.sort_unstable(); keys };
            let keys: Vec<u8> = keys.into_iter().flat_map(sorted).collect();
            prop_assert_eq!(by_runs(&keys), stable(&keys));
        }

        #[test]
        fn rows_in_no_order_are_sorted_too(keys in prop::collection::vec(any::<u8>(), 0..300)) {
            prop_assert_eq!(by_runs(&keys), stable(&keys));
        }

        #[test]
        fn items_come_into_the_order_that_the_library_gives(items in prop::collection::vec((0..20_u8, any::<u8>()), 0..100)) {
            let (mut ours, mut theirs) = (items.clone(), items.clone());
            by_key(&mut ours, |(key, _)| *key);
            theirs.sort_by_key(|(key, _)| *key);
            prop_assert_eq!(&ours, &theirs);
            ascending(&mut ours);
            theirs.sort_unstable();
            prop_assert_eq!(ours, theirs);
        }
    }
}
