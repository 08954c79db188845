//! Maps keys that are all known from the start.

use crate::sort;

/// Values by key, in the order of keys. Each instantiation of `BTreeMap` adds kilobytes to every
/// page; one of this adds little.
#[derive(Debug, Clone)]
pub(crate) struct SortedMap<K, V>(Vec<(K, V)>);

impl<K: Ord, V: Default> SortedMap<K, V> {
    /// With a default value for each key; keys may repeat.
    pub(crate) fn of(keys: impl Iterator<Item = K>) -> Self {
        let mut all: Vec<K> = Vec::new();
        for key in keys {
            if all.last() != Some(&key) {
                all.push(key);
            }
        }
        sort::ascending(&mut all);
        all.dedup();
        Self(all.into_iter().map(|key| (key, V::default())).collect())
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        Some(&self.0[self.place(key)?].1)
    }

    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let place = self.place(key)?;
        Some(&mut self.0[place].1)
    }

    fn place(&self, key: &K) -> Option<usize> {
        self.0.binary_search_by(|(known, _)| known.cmp(key)).ok()
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, (K, V)> {
        self.0.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> std::slice::IterMut<'_, (K, V)> {
        self.0.iter_mut()
    }

    /// The same keys with other values.
    pub(crate) fn map<W>(self, value: impl Fn(V) -> W) -> SortedMap<K, W> {
        SortedMap(self.0.into_iter().map(|(key, old)| (key, value(old))).collect())
    }

    pub(crate) fn into_values(self) -> Vec<V> {
        self.0.into_iter().map(|(_, value)| value).collect()
    }

    pub(crate) fn into_vec(self) -> Vec<(K, V)> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::SortedMap;

    #[test]
    fn each_key_has_one_value_in_order() {
        let mut map: SortedMap<i64, u32> = SortedMap::of([3, 1, 3, 3, 2].into_iter());
        *map.get_mut(&3).unwrap() += 5;
        assert_eq!((map.get(&3), map.get(&4)), (Some(&5), None));
        assert_eq!(map.into_vec(), [(1, 0), (2, 0), (3, 5)]);
    }
}
