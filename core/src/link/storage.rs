//! Tracks the last writer of each byte range of a storage.

use std::collections::BTreeMap;

/// Bytes of a storage, from `start` up to `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StorageRegion {
    pub(super) start: i64,
    pub(super) end: i64,
}

/// Parts of one storage, none of which overlap, with their last writers.
#[derive(Debug, Default)]
pub(super) struct StorageWriters {
    /// By start: the end and the writer.
    parts: BTreeMap<i64, (i64, u32)>,
}

impl StorageWriters {
    /// The parts that overlap a region, from the last to the first.
    pub(super) fn parts(&self, region: StorageRegion) -> impl Iterator<Item = (StorageRegion, u32)> + '_ {
        let before = self.parts.range(..region.end).rev();
        let parts = before.map(|(start, (end, writer))| (StorageRegion { start: *start, end: *end }, *writer));
        parts.take_while(move |(part, _)| part.end > region.start)
    }

    /// Makes `writer` the last writer of a region, except where `stays` protects the previous one.
    ///
    /// Returns the number of examined parts.
    pub(super) fn write(&mut self, region: StorageRegion, writer: u32, stays: impl Fn(u32) -> bool) -> usize {
        let mut parts: Vec<_> = self.parts(region).collect();
        parts.reverse();
        let mut from = region.start;
        for &(part, other) in &parts {
            if stays(other) {
                self.set(from, part.start, writer);
                from = part.end;
                continue;
            }
            self.parts.remove(&part.start);
            self.set(part.start, region.start, other);
            self.set(region.end.max(part.start), part.end, other);
        }
        self.set(from, region.end, writer);
        parts.len()
    }

    fn set(&mut self, start: i64, end: i64, writer: u32) {
        if start < end {
            self.parts.insert(start, (end, writer));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writers(storage: &StorageWriters) -> Vec<(i64, i64, u32)> {
        let all = storage.parts(StorageRegion { start: 0, end: 100 });
        let mut all: Vec<_> = all.map(|(part, writer)| (part.start, part.end, writer)).collect();
        all.reverse();
        all
    }

    #[test]
    fn a_write_replaces_what_it_covers_and_no_more() {
        let mut storage = StorageWriters::default();
        storage.write(StorageRegion { start: 0, end: 30 }, 1, |_| false);
        storage.write(StorageRegion { start: 10, end: 20 }, 2, |_| false);
        assert_eq!(writers(&storage), [(0, 10, 1), (10, 20, 2), (20, 30, 1)]);
        storage.write(StorageRegion { start: 5, end: 40 }, 3, |_| false);
        assert_eq!(writers(&storage), [(0, 5, 1), (5, 40, 3)]);
    }

    #[test]
    fn what_stays_is_written_around() {
        let mut storage = StorageWriters::default();
        storage.write(StorageRegion { start: 10, end: 20 }, 1, |_| false);
        storage.write(StorageRegion { start: 30, end: 50 }, 2, |_| false);
        storage.write(StorageRegion { start: 0, end: 40 }, 3, |writer| writer == 1);
        assert_eq!(writers(&storage), [(0, 10, 3), (10, 20, 1), (20, 40, 3), (40, 50, 2)]);
        storage.write(StorageRegion { start: 12, end: 15 }, 4, |writer| writer == 1);
        assert_eq!(writers(&storage), [(0, 10, 3), (10, 20, 1), (20, 40, 3), (40, 50, 2)]);
    }
}
