//! A column of points in time.

use rustc_hash::FxHashMap;

use super::chunked::Chunked;
use crate::time::Ts;

/// Points in time, four bytes each where they are within two seconds of those before them.
#[derive(Debug, Clone, Default)]
pub struct Times {
    /// The first time of each block of rows.
    firsts: Chunked<Ts>,
    /// How much later than the first of its block each one is.
    offsets: Chunked<i32>,
    /// Times that are far from the first one, by row.
    far: FxHashMap<u32, Ts>,
}

/// Rows of a block.
const BLOCK: usize = 64;
/// Marks a time that is far from the first one.
const FAR: i32 = i32::MIN;

impl Times {
    /// A column of these times.
    pub(crate) fn of(times: &[Ts]) -> Self {
        let firsts: Chunked<Ts> = times.chunks(BLOCK).map(|block| block[0]).collect();
        let mut far = FxHashMap::default();
        let offset = |(row, time): (usize, &Ts)| {
            let offset = offset(firsts[row / BLOCK], *time);
            if offset == FAR {
                far.insert(row as u32, *time);
            }
            offset
        };
        let offsets = times.iter().enumerate().map(offset).collect();
        Self { firsts, offsets, far }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    /// The time of a row.
    #[inline]
    pub fn at(&self, row: usize) -> Ts {
        match self.offsets[row] {
            FAR => self.far(row),
            offset => Ts(self.firsts[row / BLOCK].0.saturating_add(i64::from(offset))),
        }
    }

    #[cold]
    fn far(&self, row: usize) -> Ts {
        self.far.get(&(row as u32)).copied().unwrap_or_default()
    }

    /// The time of a row, if there is one.
    pub fn get(&self, row: usize) -> Option<Ts> {
        (row < self.len()).then(|| self.at(row))
    }

    /// Sets the time of a row.
    #[inline]
    pub fn set(&mut self, row: usize, time: Ts) {
        let offset = offset(self.firsts[row / BLOCK], time);
        self.offsets[row] = offset;
        if offset == FAR {
            self.far.insert(row as u32, time);
        }
    }

    /// Adds a row.
    #[inline]
    pub fn push(&mut self, time: Ts) {
        if self.len().is_multiple_of(BLOCK) {
            self.firsts.push(time);
        }
        self.offsets.push(FAR);
        self.set(self.len() - 1, time);
    }

    /// All times.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Ts> + DoubleEndedIterator + Clone + '_ {
        (0..self.len()).map(|row| self.at(row))
    }

    /// Replaces each time.
    pub fn map(&mut self, replace: impl Fn(Ts) -> Ts) {
        *self = self.iter().map(replace).collect();
    }
}

/// How much later a time is than the first of its block.
#[inline]
fn offset(first: Ts, time: Ts) -> i32 {
    time.0.checked_sub(first.0).and_then(|offset| i32::try_from(offset).ok()).unwrap_or(FAR)
}

impl FromIterator<Ts> for Times {
    fn from_iter<I: IntoIterator<Item = Ts>>(times: I) -> Self {
        let mut column = Self::default();
        times.into_iter().for_each(|time| column.push(time));
        column
    }
}

impl PartialEq for Times {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Times {}

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
}
