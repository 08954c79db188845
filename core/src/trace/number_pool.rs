//! A pool of numbers, each in as few bytes as it needs.

use crate::varint;

/// An append-only list of rows of numbers, read from their places.
#[derive(Debug, Clone, Default)]
pub struct NumberPool {
    /// Seven bits a byte, the lowest first; the highest bit says that another byte follows. Small
    /// negative numbers are short, too: the lowest bit is the sign. A row is in one chunk.
    chunks: Vec<Vec<u8>>,
    /// The row that is being added.
    row: Vec<u8>,
}

/// Bytes of a chunk, unless a row is longer. Chunks never move, as those of columns do not.
const CHUNK: usize = 1 << 18;

impl NumberPool {
    /// Adds a row; its place.
    #[inline]
    pub fn add(&mut self, numbers: impl IntoIterator<Item = i64>) -> u32 {
        self.row.clear();
        numbers.into_iter().for_each(|number| varint::push(&mut self.row, ((number << 1) ^ (number >> 63)) as u64));
        if self.chunks.last().is_none_or(|last| last.len() + self.row.len() > CHUNK) {
            self.chunks.push(if self.chunks.is_empty() { Vec::new() } else { Vec::with_capacity(CHUNK) });
        }
        let before = (self.chunks.len() - 1) * CHUNK;
        let Some(last) = self.chunks.last_mut() else { return 0 };
        let place = before + last.len();
        last.extend_from_slice(&self.row);
        u32::try_from(place).unwrap_or(u32::MAX)
    }

    /// The number that comes so many after the first one of a row.
    #[inline]
    pub fn get(&self, place: u32, after: usize) -> Option<i64> {
        let mut bytes = self.bytes(place);
        for _ in 0..after {
            bytes = &bytes[bytes.iter().position(|byte| *byte < 0x80)? + 1..];
        }
        number(&mut bytes)
    }

    /// The numbers from the first one of a row on.
    pub fn from(&self, place: u32) -> impl Iterator<Item = i64> + '_ {
        let mut bytes = self.bytes(place);
        std::iter::from_fn(move || number(&mut bytes))
    }

    #[inline]
    fn bytes(&self, place: u32) -> &[u8] {
        let place = place as usize;
        self.chunks.get(place / CHUNK).and_then(|chunk| chunk.get(place % CHUNK..)).unwrap_or_default()
    }
}

/// Takes a number off the start.
#[inline]
fn number(bytes: &mut &[u8]) -> Option<i64> {
    let mut doubled = 0_u64;
    for (at, byte) in bytes.iter().enumerate() {
        doubled |= u64::from(byte & 0x7f) << (7 * at).min(63);
        if *byte < 0x80 {
            *bytes = &bytes[at + 1..];
            return Some((doubled >> 1) as i64 ^ -((doubled & 1) as i64));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_size_come_back() {
        let edges = [0, -1, 1, 63, -64, 64, (1 << 30) - 1, -(1 << 30), 1 << 31, i64::MAX, i64::MIN, 5];
        let mut pool = NumberPool::default();
        pool.add([3]);
        let place = pool.add(edges);
        assert_eq!(pool.from(place).collect::<Vec<_>>(), edges);
        assert!((0..edges.len()).all(|after| pool.get(place, after) == Some(edges[after])));
        assert_eq!((pool.get(place, edges.len()), pool.from(u32::MAX).next()), (None, None));
        assert_eq!(pool.bytes(0).len(), 1 + 5 + 2 + 3 * 5 + 2 * 10 + 1);
    }

    #[test]
    fn rows_longer_than_a_chunk_and_without_numbers_have_places() {
        let mut pool = NumberPool::default();
        let long: Vec<i64> = (0..CHUNK as i64).collect();
        let rows = [vec![], vec![7; 9], long.clone(), vec![1], vec![], long, vec![2, 3]];
        let places: Vec<u32> = rows.iter().map(|row| pool.add(row.iter().copied())).collect();
        for (row, place) in rows.iter().zip(places) {
            assert!(pool.from(place).take(row.len()).eq(row.iter().copied()));
        }
    }
}
