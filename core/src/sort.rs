//! Sorting with one instantiation of the library's sort for all types: each takes kilobytes, which every page carries.
//! What is sorted at every read has its own.

use std::cmp::Ordering;

/// Sorts by a key; equal items stay in their order.
pub(crate) fn by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    by(items, |a, b| key(a).cmp(&key(b)));
}

/// Sorts by the items themselves.
pub(crate) fn ascending<T: Ord>(items: &mut [T]) {
    by(items, T::cmp);
}

/// Sorts by a comparison; equal items stay in their order.
pub(crate) fn by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
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

/// The places `0..len` in the order of what stands there.
fn order(len: usize, compare: &dyn Fn(u32, u32) -> Ordering) -> Vec<u32> {
    let mut places: Vec<u32> = (0..len as u32).collect();
    places.sort_by(|a, b| compare(*a, *b));
    places
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
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
