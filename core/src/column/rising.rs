//! A column of numbers that rise from row to row.

use rustc_hash::FxHashMap;

use super::chunked::Chunked;

/// Numbers that mostly rise slowly, two bytes each.
#[derive(Debug, Clone, Default)]
pub struct Rising {
    /// The first number of each block of rows.
    firsts: Vec<u32>,
    /// How much larger each number is than the first of its block.
    rises: Chunked<u16>,
    /// Numbers that are smaller, or larger by more; by row.
    far: FxHashMap<u32, u32>,
}

/// Rows of a block.
const BLOCK: usize = 64;
/// Marks a number that is far from the first one.
const FAR: u16 = u16::MAX;

impl Rising {
    /// A column of these numbers.
    pub(crate) fn of(numbers: &[u32]) -> Self {
        let firsts: Vec<u32> = numbers.chunks(BLOCK).map(|block| block[0]).collect();
        let mut far = FxHashMap::default();
        let rise = |(row, number): (usize, &u32)| {
            let rise = rise(firsts[row / BLOCK], *number);
            if rise == FAR {
                far.insert(row as u32, *number);
            }
            rise
        };
        let rises = numbers.iter().enumerate().map(rise).collect();
        Self { firsts, rises, far }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rises.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rises.is_empty()
    }

    /// The number of a row.
    #[inline]
    pub fn at(&self, row: usize) -> u32 {
        match self.rises[row] {
            FAR => self.far(row),
            rise => self.firsts[row / BLOCK] + u32::from(rise),
        }
    }

    #[cold]
    fn far(&self, row: usize) -> u32 {
        self.far.get(&(row as u32)).copied().unwrap_or_default()
    }

    /// The last number.
    pub fn last(&self) -> Option<u32> {
        Some(self.at(self.len().checked_sub(1)?))
    }

    /// Adds a row.
    #[inline]
    pub fn push(&mut self, number: u32) {
        if self.len().is_multiple_of(BLOCK) {
            self.firsts.push(number);
        }
        self.rises.push(FAR);
        self.set(self.len() - 1, number);
    }

    /// Sets the number of a row.
    #[inline]
    pub fn set(&mut self, row: usize, number: u32) {
        let rise = rise(self.firsts[row / BLOCK], number);
        self.rises[row] = rise;
        if rise == FAR {
            self.far.insert(row as u32, number);
        }
    }

    /// All numbers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u32> + DoubleEndedIterator + Clone + '_ {
        (0..self.len()).map(|row| self.at(row))
    }

    /// The row of a number, where the numbers rise.
    pub fn row_of(&self, number: u32) -> Option<usize> {
        let (mut from, mut to) = (0, self.len());
        while from < to {
            let middle = usize::midpoint(from, to);
            if self.at(middle) < number {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        (from < self.len() && self.at(from) == number).then_some(from)
    }
}

/// How much larger a number is than the first of its block.
#[inline]
fn rise(first: u32, number: u32) -> u16 {
    number.checked_sub(first).and_then(|rise| u16::try_from(rise).ok()).unwrap_or(FAR)
}

impl FromIterator<u32> for Rising {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        let mut column = Self::default();
        numbers.into_iter().for_each(|number| column.push(number));
        column
    }
}

impl PartialEq for Rising {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Rising {}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn rows_are_found_by_their_numbers() {
        let column: Rising = (0..1_000).map(|at| at * at).collect();
        assert_eq!(column.row_of(998_001), Some(999));
        assert_eq!(column.row_of(0), Some(0));
        assert_eq!(column.row_of(2), None);
        assert_eq!(column.row_of(u32::MAX), None);
    }
}
