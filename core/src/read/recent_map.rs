//! A map whose last key is mostly asked for again.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// Values by their keys, in the order in which they came. The last key needs no search.
#[derive(Debug)]
pub(super) struct RecentMap<K, V> {
    values: Vec<V>,
    places: FxHashMap<K, usize>,
    last: Option<(K, usize)>,
}

impl<K, V> Default for RecentMap<K, V> {
    fn default() -> Self {
        Self { values: Vec::new(), places: FxHashMap::default(), last: None }
    }
}

impl<K: Copy + Eq + Hash, V> RecentMap<K, V> {
    /// The place of a key among all; a new one has a new value.
    #[inline]
    pub(super) fn place(&mut self, key: K, new: impl FnOnce() -> V) -> usize {
        match self.last {
            Some((last, place)) if last == key => place,
            _ => self.find(key, new),
        }
    }

    fn find(&mut self, key: K, new: impl FnOnce() -> V) -> usize {
        let place = *self.places.entry(key).or_insert_with(|| {
            self.values.push(new());
            self.values.len() - 1
        });
        self.last = Some((key, place));
        place
    }

    /// The value of a key; that of a new one is new.
    #[inline]
    pub(super) fn at(&mut self, key: K, new: impl FnOnce() -> V) -> &mut V {
        let place = self.place(key, new);
        &mut self.values[place]
    }

    /// The value at a place.
    pub(super) fn get(&self, place: usize) -> Option<&V> {
        self.values.get(place)
    }

    /// All values.
    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.values.iter_mut()
    }

    /// All values.
    pub(super) fn into_values(self) -> Vec<V> {
        self.values
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.values.clear();
        self.places.clear();
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_values() {
        let mut map = RecentMap::default();
        for (key, value) in [(5, 'a'), (5, 'b'), (3, 'c'), (5, 'd'), (3, 'e')] {
            map.at(key, || value);
        }
        *map.at(3, || 'f') = 'g';
        assert_eq!((map.place(5, || 'h'), map.get(0), map.get(1), map.get(2)), (0, Some(&'a'), Some(&'g'), None));
        map.clear();
        assert_eq!((*map.at(5, || 'i'), map.into_values()), ('i', vec!['i']));
    }
}
