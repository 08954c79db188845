//! Searches a sequence of names in calls.

/// Where `wanted` first comes one after another in `calls`, in time that grows with the sum of
/// both.
pub(super) fn find<T: PartialEq>(calls: &[T], wanted: &[T]) -> Option<usize> {
    // How much of the beginning matches again before each of its places.
    let mut borders = vec![0_usize; wanted.len()];
    let mut matched = 0;
    for at in 1..wanted.len() {
        while matched > 0 && wanted[at] != wanted[matched] {
            matched = borders[matched - 1];
        }
        matched += usize::from(wanted[at] == wanted[matched]);
        borders[at] = matched;
    }
    matched = 0;
    for (at, call) in calls.iter().enumerate() {
        while matched > 0 && *call != wanted[matched] {
            matched = borders[matched - 1];
        }
        matched += usize::from(!wanted.is_empty() && *call == wanted[matched]);
        if matched == wanted.len() && matched > 0 {
            return Some(at + 1 - matched);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_first_place_is_found(
            calls in prop::collection::vec(0..3_u8, 0..40), wanted in prop::collection::vec(0..3_u8, 1..5)
        ) {
            let place = calls.windows(wanted.len()).position(|window| window == wanted);
            prop_assert_eq!(find(&calls, &wanted), place);
        }
    }
}
