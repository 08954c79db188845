//! A column of numbers near those before them.

use std::fmt::Debug;

use rustc_hash::FxHashMap;

use super::chunked::{CHUNK, Chunked};
use crate::time::Ts;

/// Points in time, four bytes each where they are within two seconds of those before them.
pub type Times = Blocked<Ts>;

/// Numbers that mostly rise slowly, two bytes each.
pub type Rising = Blocked<u32>;

/// Numbers of which most are near the first one of their block.
#[derive(Debug, Clone)]
pub struct Blocked<N: Blockable> {
    blocks: Chunked<NumberBlock<N>, BLOCKS>,
    len: usize,
    /// Numbers that are far from the first one; by row.
    far: FxHashMap<u32, N>,
}

/// A number that is stored as its distance from another one.
pub trait Blockable: Copy + Default + PartialEq + Debug {
    /// The distance.
    type Offset: Copy + PartialEq + Debug;

    /// From a number to itself.
    const NONE: Self::Offset;

    /// Marks a number that is far from the first one.
    const FAR: Self::Offset;

    /// How much larger the number is than the first of its block.
    fn offset(self, first: Self) -> Self::Offset;

    /// The number that is so much larger.
    #[must_use]
    fn plus(self, offset: Self::Offset) -> Self;
}

impl Blockable for Ts {
    type Offset = i32;

    const NONE: i32 = 0;
    const FAR: i32 = i32::MIN;

    #[inline]
    fn offset(self, first: Self) -> i32 {
        self.0.checked_sub(first.0).and_then(|offset| i32::try_from(offset).ok()).unwrap_or(Self::FAR)
    }

    #[inline]
    fn plus(self, offset: i32) -> Self {
        // It came from such a sum, which did not wrap.
        Ts(self.0.wrapping_add(i64::from(offset)))
    }
}

impl Blockable for u32 {
    type Offset = u16;

    const NONE: u16 = 0;
    const FAR: u16 = u16::MAX;

    #[inline]
    fn offset(self, first: Self) -> u16 {
        self.checked_sub(first).and_then(|rise| u16::try_from(rise).ok()).unwrap_or(Self::FAR)
    }

    #[inline]
    fn plus(self, offset: u16) -> Self {
        self.wrapping_add(u32::from(offset))
    }
}

/// Some rows. The first number is beside the others: one look finds both.
#[derive(Debug, Clone, Copy)]
struct NumberBlock<N: Blockable> {
    first: N,
    /// Of all rows, that of the first one too.
    offsets: [N::Offset; BLOCK],
}

/// Rows of a block.
const BLOCK: usize = 64;
/// Blocks of a chunk.
const BLOCKS: usize = CHUNK / BLOCK;

impl<N: Blockable> Default for Blocked<N> {
    fn default() -> Self {
        Self { blocks: Chunked::default(), len: 0, far: FxHashMap::default() }
    }
}

impl<N: Blockable> Blocked<N> {
    /// A column of these numbers.
    pub(crate) fn of(numbers: &[N]) -> Self {
        let mut far = FxHashMap::default();
        let mut row = 0;
        let mut block = |numbers: &[N]| {
            let first = numbers[0];
            let mut offsets = [N::NONE; BLOCK];
            for (offset, number) in offsets.iter_mut().zip(numbers) {
                *offset = number.offset(first);
                if *offset == N::FAR {
                    far.insert(row, *number);
                }
                row += 1;
            }
            NumberBlock { first, offsets }
        };
        let chunks = numbers.chunks(CHUNK).map(|chunk| chunk.chunks(BLOCK).map(&mut block).collect());
        Self { blocks: Chunked::of(chunks), len: numbers.len(), far }
    }

    /// Number of rows.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of a row.
    #[inline]
    pub fn at(&self, row: usize) -> N {
        let block = self.blocks.value(row / BLOCK);
        let offset = block.offsets[row % BLOCK];
        if offset == N::FAR { self.far(row) } else { block.first.plus(offset) }
    }

    #[cold]
    fn far(&self, row: usize) -> N {
        self.far.get(&(row as u32)).copied().unwrap_or_default()
    }

    /// The number of a row, if there is one.
    pub fn get(&self, row: usize) -> Option<N> {
        (row < self.len).then(|| self.at(row))
    }

    /// The last number.
    pub fn last(&self) -> Option<N> {
        self.get(self.len.checked_sub(1)?)
    }

    /// Sets the number of a row.
    #[inline]
    pub fn set(&mut self, row: usize, number: N) {
        let block = &mut self.blocks[row / BLOCK];
        let offset = number.offset(block.first);
        block.offsets[row % BLOCK] = offset;
        if offset == N::FAR {
            self.far.insert(row as u32, number);
        }
    }

    /// Adds a row.
    #[inline]
    pub fn push(&mut self, number: N) {
        if self.len.is_multiple_of(BLOCK) {
            self.blocks.push(NumberBlock { first: number, offsets: [N::NONE; BLOCK] });
        }
        self.len += 1;
        self.set(self.len - 1, number);
    }

    /// All numbers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = N> + DoubleEndedIterator + Clone + '_ {
        (0..self.len).map(|row| self.at(row))
    }

    /// Replaces each number.
    pub fn map(&mut self, replace: impl Fn(N) -> N) {
        *self = self.iter().map(replace).collect();
    }
}

impl Rising {
    /// The row of a number, where the numbers rise.
    pub fn row_of(&self, number: u32) -> Option<usize> {
        let (mut from, mut to) = (0, self.len);
        while from < to {
            let middle = usize::midpoint(from, to);
            if self.at(middle) < number {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        (self.get(from) == Some(number)).then_some(from)
    }
}

impl<N: Blockable> FromIterator<N> for Blocked<N> {
    fn from_iter<I: IntoIterator<Item = N>>(numbers: I) -> Self {
        let mut column = Self::default();
        numbers.into_iter().for_each(|number| column.push(number));
        column
    }
}

impl<N: Blockable> PartialEq for Blocked<N> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<N: Blockable + Eq> Eq for Blocked<N> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_back_however_far_they_are_apart() {
        let edges =
            [5, 4, 5 + i64::from(i32::MAX), 6 + i64::from(i32::MAX), i64::from(i32::MIN), i64::MAX, i64::MIN, 0];
        let times = edges.into_iter().chain((0..200).map(|at| at * 100_000_000)).map(Ts);
        let mut column: Times = times.clone().collect();
        assert!(column.iter().eq(times.clone()));
        assert_eq!(Times::of(&times.collect::<Vec<_>>()), column);
        column.set(6, Ts(7));
        column.set(1, Ts(i64::MAX - 1));
        assert_eq!((column.at(1), column.at(6), column.get(7)), (Ts(i64::MAX - 1), Ts(7), Some(Ts(0))));
        column.map(|time| Ts(time.0.saturating_add(1)));
        assert_eq!((column.at(1), column.at(6), column.get(column.len())), (Ts(i64::MAX), Ts(8), None));
    }

    #[test]
    fn numbers_come_back_however_far_they_are_apart() {
        let numbers = [5, 5, 6, 70_000, 65_540, 65_539, 4, u32::MAX, 0];
        let many = numbers.into_iter().chain((0..200).map(|at| at * 40_000));
        let mut column: Rising = many.clone().collect();
        assert!(column.iter().eq(many.clone()));
        assert_eq!(Rising::of(&many.collect::<Vec<_>>()), column);
        column.set(3, 7);
        column.set(2, u32::MAX - 1);
        assert_eq!((column.at(2), column.at(3), column.at(7)), (u32::MAX - 1, 7, u32::MAX));
    }

    #[test]
    fn columns_of_several_chunks_are_the_same_however_they_are_made() {
        let numbers: Vec<u32> = (0..2 * CHUNK as u32 + 70).map(|at| at * 1_000).collect();
        let column = Rising::of(&numbers);
        assert_eq!((column.len(), column.last()), (numbers.len(), numbers.last().copied()));
        assert!(column.iter().eq(numbers.iter().copied()));
        assert_eq!(numbers.into_iter().collect::<Rising>(), column);
    }

    #[test]
    fn rows_are_found_by_their_numbers() {
        let column: Rising = (0..1_000).map(|at| at * at).collect();
        assert_eq!(column.row_of(998_001), Some(999));
        assert_eq!(column.row_of(0), Some(0));
        assert_eq!(column.row_of(2), None);
        assert_eq!(column.row_of(u32::MAX), None);
    }
}
