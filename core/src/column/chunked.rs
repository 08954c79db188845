//! A column in pieces.

use std::ops::{Index, IndexMut};
use std::slice;

/// A column that grows without being moved: what it leaves behind when it moves stays with the
/// process, and all columns of a trace grow at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunked<T, const ROWS: usize = CHUNK> {
    /// As arrays: a row inside of one is found without asking for a length.
    full: Vec<Box<[T; ROWS]>>,
    /// The rest. It may be full, too, but is empty only where all is.
    last: Vec<T>,
}

/// Rows of a chunk.
pub(super) const CHUNK: usize = 1 << 16;

impl<T, const ROWS: usize> Default for Chunked<T, ROWS> {
    fn default() -> Self {
        Self { full: Vec::new(), last: Vec::new() }
    }
}

impl<T, const ROWS: usize> Chunked<T, ROWS> {
    /// A column of these chunks, all of them full but the last one.
    pub(super) fn of(chunks: impl Iterator<Item = Vec<T>>) -> Self {
        let mut column = Self::default();
        chunks.for_each(|chunk| column.begin(chunk));
        column
    }

    /// Number of rows.
    #[inline]
    pub fn len(&self) -> usize {
        self.full.len() * ROWS + self.last.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    /// The value of a row.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one call for each row, not several, in code that is compiled for size")]
    pub fn get(&self, row: usize) -> Option<&T> {
        match self.full.get(row / ROWS) {
            Some(chunk) => Some(&chunk[row % ROWS]),
            None => self.last.get(row - self.full.len() * ROWS),
        }
    }

    /// The value of a row that there is.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one call for each row, not several, in code that is compiled for size")]
    pub(super) fn value(&self, row: usize) -> &T {
        match self.full.get(row / ROWS) {
            Some(chunk) => &chunk[row % ROWS],
            None => &self.last[row - self.full.len() * ROWS],
        }
    }

    /// Adds a row.
    #[inline]
    pub fn push(&mut self, value: T) {
        if self.last.len() == ROWS {
            self.begin(Vec::with_capacity(ROWS));
        }
        // The first chunk grows as it has to: most traces are small.
        self.last.push(value);
    }

    /// Begins the next chunk. The one before it, if there is one, is full.
    #[cold]
    fn begin(&mut self, chunk: Vec<T>) {
        self.full.extend(<Box<[T; ROWS]>>::try_from(std::mem::replace(&mut self.last, chunk)).ok());
    }

    /// All values.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &T> + DoubleEndedIterator {
        ChunkedIter { front: [].iter(), middle: self.full.iter(), back: self.last.iter() }
    }

    /// The values of each chunk.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = &[T]> + Clone {
        self.full.iter().map(|chunk| &chunk[..]).chain([&self.last[..]])
    }

    /// The rows of some values. Faster than to look each up: most chunks are walked in one go.
    #[inline]
    pub(crate) fn rows_of(&self, is_it: impl Fn(&T) -> bool + Copy) -> impl Iterator<Item = usize> + Clone {
        self.chunks().enumerate().flat_map(move |(at, chunk)| {
            let rows = chunk.iter().enumerate().filter(move |(_, value)| is_it(value));
            rows.map(move |(row, _)| at * ROWS + row)
        })
    }

    /// All values, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.full.iter_mut().flat_map(|chunk| chunk.iter_mut()).chain(&mut self.last)
    }
}

impl<T, const ROWS: usize> Index<usize> for Chunked<T, ROWS> {
    type Output = T;

    #[inline]
    fn index(&self, row: usize) -> &T {
        self.value(row)
    }
}

impl<T, const ROWS: usize> IndexMut<usize> for Chunked<T, ROWS> {
    #[inline]
    fn index_mut(&mut self, row: usize) -> &mut T {
        let before = self.full.len() * ROWS;
        match self.full.get_mut(row / ROWS) {
            Some(chunk) => &mut chunk[row % ROWS],
            None => &mut self.last[row - before],
        }
    }
}

impl<T, const ROWS: usize> FromIterator<T> for Chunked<T, ROWS> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut values = values.into_iter();
        let chunks = std::iter::from_fn(|| Some(values.by_ref().take(ROWS).collect::<Vec<_>>()));
        Self::of(chunks.take_while(|chunk| !chunk.is_empty()))
    }
}

/// The values of a column, chunk by chunk.
struct ChunkedIter<'a, T, const ROWS: usize> {
    front: slice::Iter<'a, T>,
    middle: slice::Iter<'a, Box<[T; ROWS]>>,
    back: slice::Iter<'a, T>,
}

impl<'a, T, const ROWS: usize> ChunkedIter<'a, T, ROWS> {
    #[cold]
    fn next_chunk(&mut self) -> Option<&'a T> {
        self.front = self.middle.next().map_or_else(|| std::mem::take(&mut self.back), |chunk| chunk.iter());
        self.front.next()
    }

    #[cold]
    fn chunk_before(&mut self) -> Option<&'a T> {
        self.back = self.middle.next_back().map_or_else(|| std::mem::take(&mut self.front), |chunk| chunk.iter());
        self.back.next_back()
    }
}

impl<'a, T, const ROWS: usize> Iterator for ChunkedIter<'a, T, ROWS> {
    type Item = &'a T;

    #[inline]
    fn next(&mut self) -> Option<&'a T> {
        self.front.next().or_else(|| self.next_chunk())
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.front.len() + self.middle.len() * ROWS + self.back.len();
        (len, Some(len))
    }

    #[inline]
    fn fold<B, F: FnMut(B, &'a T) -> B>(self, init: B, mut add: F) -> B {
        let front = self.front.fold(init, &mut add);
        let middle = self.middle.fold(front, |sum, chunk| chunk.iter().fold(sum, &mut add));
        self.back.fold(middle, add)
    }
}

impl<T, const ROWS: usize> DoubleEndedIterator for ChunkedIter<'_, T, ROWS> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        self.back.next_back().or_else(|| self.chunk_before())
    }
}

impl<T, const ROWS: usize> ExactSizeIterator for ChunkedIter<'_, T, ROWS> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_in_their_order_however_many_there_are() {
        for len in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 5] {
            let mut column: Chunked<usize> = (0..len).collect();
            assert_eq!((column.len(), column.is_empty()), (len, len == 0));
            assert!(column.iter().copied().eq(0..len));
            assert!(column.iter().copied().rev().eq((0..len).rev()));
            assert_eq!(column.iter().sum::<usize>(), (0..len).sum::<usize>());
            assert!((0..len).all(|row| column[row] == row));
            assert_eq!((column.get(len), column.get(len + CHUNK)), (None, None));
            let mut pushed = Chunked::default();
            (0..len).for_each(|value| pushed.push(value));
            assert_eq!(pushed, column);
            column.iter_mut().for_each(|value| *value += 1);
            assert_eq!(column.iter().next_back().copied().unwrap_or_default(), len);
        }
    }

    #[test]
    fn an_iterator_knows_its_length_from_both_ends() {
        let column: Chunked<usize, 4> = (0..11).collect();
        let mut rest = column.iter();
        for taken in 1..=5 {
            assert_eq!((rest.next().copied(), rest.next_back().copied()), (Some(taken - 1), Some(11 - taken)));
            assert_eq!(rest.len(), 11 - 2 * taken);
        }
        assert_eq!((rest.next_back(), rest.next(), rest.next_back()), (Some(&5), None, None));
    }
}
