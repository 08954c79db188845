//! Counts the keys that a query sees through a mask.

/// A mask of attention: a band around the diagonal.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AttentionMask {
    /// Whether the last query is beside the last key, not the first beside the first.
    pub is_from_end: bool,
    /// How many keys before its own a query sees; none where all.
    pub before: Option<i64>,
    /// How many keys after its own; none where all.
    pub after: Option<i64>,
}

impl AttentionMask {
    /// How many pairs of a query and a key that it sees there are.
    pub(super) fn pairs(self, num_queries: i64, num_keys: i64) -> i64 {
        let [queries, keys] = [num_queries, num_keys].map(|count| i128::from(count.max(0)));
        let own = if self.is_from_end { keys - queries } else { 0 };
        let until = self.after.map_or(queries * keys, |after| up_to(queries, keys, own + i128::from(after) + 1));
        let before = self.before.map_or(0, |before| up_to(queries, keys, own - i128::from(before)));
        i64::try_from((until - before).max(0)).unwrap_or(i64::MAX)
    }
}

/// The sum of `at + first` over all queries `at`, each no less than nothing and no more than all
/// keys.
fn up_to(queries: i128, keys: i128, first: i128) -> i128 {
    let (some, all) = ((-first).clamp(0, queries), (keys - first).clamp(0, queries));
    (all - some) * (some + all - 1 + 2 * first) / 2 + (queries - all) * keys
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::AttentionMask;

    /// Every examined pair.
    fn counted(mask: AttentionMask, queries: i64, keys: i64) -> i64 {
        let own = |query: i64| query + if mask.is_from_end { keys - queries } else { 0 };
        let is_seen = |query: i64, key: i64| {
            mask.before.is_none_or(|before| key >= own(query) - before)
                && mask.after.is_none_or(|after| key <= own(query) + after)
        };
        (0..queries).map(|query| (0..keys).filter(|key| is_seen(query, *key)).count() as i64).sum()
    }

    proptest! {
        #[test]
        fn pairs_are_as_many_as_are_counted(
            is_from_end: bool,
            before in prop::option::of(0..12_i64),
            after in prop::option::of(0..12_i64),
            queries in 0..10_i64,
            keys in 0..10_i64,
        ) {
            let mask = AttentionMask { is_from_end, before, after };
            prop_assert_eq!(mask.pairs(queries, keys), counted(mask, queries, keys));
        }
    }

    #[test]
    fn sizes_of_any_file_do_not_overflow() {
        let causal = AttentionMask { after: Some(0), ..AttentionMask::default() };
        assert_eq!(causal.pairs(i64::MAX, i64::MAX), i64::MAX);
        let band = AttentionMask { is_from_end: true, before: Some(i64::MAX), after: Some(i64::MAX) };
        assert_eq!((band.pairs(i64::MAX, i64::MAX), band.pairs(0, i64::MAX), band.pairs(-5, 3)), (i64::MAX, 0, 0));
    }
}
