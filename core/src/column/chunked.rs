//! A column in pieces.

use std::ops::{Index, IndexMut};

/// A column that grows without being moved: what it leaves behind when it moves stays with the
/// process, and all columns of a trace grow at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunked<T> {
    /// All are full but the last one.
    chunks: Vec<Vec<T>>,
}

/// Rows of a chunk.
pub(super) const CHUNK: usize = 1 << 16;

impl<T> Default for Chunked<T> {
    fn default() -> Self {
        Self { chunks: Vec::new() }
    }
}

impl<T> Chunked<T> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.chunks.last().map_or(0, |last| (self.chunks.len() - 1) * CHUNK + last.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// The value of a row.
    #[inline]
    pub fn get(&self, row: usize) -> Option<&T> {
        self.chunks.get(row / CHUNK)?.get(row % CHUNK)
    }

    /// Adds a row.
    #[inline]
    pub fn push(&mut self, value: T) {
        match self.chunks.last_mut() {
            Some(last) if last.len() < CHUNK => last.push(value),
            _ => self.start_chunk(value),
        }
    }

    #[cold]
    fn start_chunk(&mut self, value: T) {
        // The first one grows as it has to: most traces are small.
        let mut chunk = if self.chunks.is_empty() { Vec::new() } else { Vec::with_capacity(CHUNK) };
        chunk.push(value);
        self.chunks.push(chunk);
    }

    /// All values.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + Clone {
        self.chunks.iter().flatten()
    }

    /// All values, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.chunks.iter_mut().flatten()
    }
}

impl<T> Index<usize> for Chunked<T> {
    type Output = T;

    #[inline]
    fn index(&self, row: usize) -> &T {
        &self.chunks[row / CHUNK][row % CHUNK]
    }
}

impl<T> IndexMut<usize> for Chunked<T> {
    #[inline]
    fn index_mut(&mut self, row: usize) -> &mut T {
        &mut self.chunks[row / CHUNK][row % CHUNK]
    }
}

impl<T> FromIterator<T> for Chunked<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut values = values.into_iter();
        let chunks = std::iter::from_fn(|| Some(values.by_ref().take(CHUNK).collect::<Vec<_>>()));
        Self { chunks: chunks.take_while(|chunk| !chunk.is_empty()).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_in_their_order_however_many_there_are() {
        for len in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 5] {
            let mut column: Chunked<usize> = (0..len).collect();
            assert_eq!(column.len(), len);
            assert!(column.iter().copied().eq(0..len));
            assert!((0..len).all(|row| column[row] == row));
            assert_eq!(column.get(len), None);
            column.iter_mut().for_each(|value| *value += 1);
            assert_eq!(column.iter().next_back().copied().unwrap_or_default(), len);
        }
    }
}
