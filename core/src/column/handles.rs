//! A column of handles.

use std::marker::PhantomData;

use super::chunked::{CHUNK, Chunked};
use crate::id::Handle;

/// Handles, two bytes each while all are small: most traces have few names, tracks and templates.
#[derive(Debug, Clone)]
pub struct Handles<H> {
    low: Chunked<u16>,
    /// The upper halves, up to the last row that has one.
    high: Chunked<u16>,
    handle: PhantomData<H>,
}

impl<H> Default for Handles<H> {
    fn default() -> Self {
        Self { low: Chunked::default(), high: Chunked::default(), handle: PhantomData }
    }
}

impl<H: Handle> Handles<H> {
    /// A column of these handles.
    pub(crate) fn of(handles: &[H]) -> Self {
        let last_wide = handles.iter().rposition(|handle| handle.number() > u32::from(u16::MAX));
        let high = &handles[..last_wide.map_or(0, |last| last + 1)];
        Self {
            low: halves_of(handles, |handle| halves(handle.number()).0),
            high: halves_of(high, |handle| halves(handle.number()).1),
            handle: PhantomData,
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.low.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.low.is_empty()
    }

    /// The handle of a row.
    #[inline]
    pub fn at(&self, row: usize) -> H {
        self.joined(row, *self.low.value(row))
    }

    /// The handle of this lower half.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one call for each row, not several, in code that is compiled for size")]
    fn joined(&self, row: usize, low: u16) -> H {
        let low = u32::from(low);
        H::from_number(self.high.get(row).map_or(low, |high| u32::from(*high) << 16 | low))
    }

    /// Sets the handle of a row.
    pub fn set(&mut self, row: usize, handle: H) {
        let (low, high) = halves(handle.number());
        self.low[row] = low;
        if high != 0 || row < self.high.len() {
            self.fill_high(row + 1);
            self.high[row] = high;
        }
    }

    /// Adds a row.
    #[inline]
    pub fn push(&mut self, handle: H) {
        let (low, high) = halves(handle.number());
        if high != 0 {
            self.fill_high(self.low.len());
            self.high.push(high);
        }
        self.low.push(low);
    }

    /// Adds upper halves up to a row.
    fn fill_high(&mut self, len: usize) {
        (self.high.len()..len).for_each(|_| self.high.push(0));
    }

    /// All handles.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = H> + DoubleEndedIterator + '_ {
        self.low.iter().enumerate().map(|(row, low)| self.joined(row, *low))
    }

    /// Replaces each handle.
    pub fn map(&mut self, mut replace: impl FnMut(H) -> H) {
        (0..self.len()).for_each(|row| self.set(row, replace(self.at(row))));
    }
}

fn halves_of<H>(handles: &[H], half: impl Fn(&H) -> u16) -> Chunked<u16> {
    Chunked::of(handles.chunks(CHUNK).map(|chunk| chunk.iter().map(&half).collect()))
}

#[inline]
fn halves(number: u32) -> (u16, u16) {
    (number as u16, (number >> 16) as u16)
}

impl<H: Handle> FromIterator<H> for Handles<H> {
    fn from_iter<I: IntoIterator<Item = H>>(handles: I) -> Self {
        let mut column = Self::default();
        handles.into_iter().for_each(|handle| column.push(handle));
        column
    }
}

impl<H: Handle> PartialEq for Handles<H> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<H: Handle> Eq for Handles<H> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::StrId;

    #[test]
    fn handles_of_any_size_come_back() {
        let ids = [0, 7, 65_535, 65_536, 3, u32::MAX].map(StrId);
        let mut column: Handles<StrId> = ids.into_iter().collect();
        assert_eq!(column.iter().collect::<Vec<_>>(), ids);
        assert_eq!(Handles::of(&ids), column);
        column.set(0, StrId(1 << 20));
        column.set(5, StrId(2));
        assert_eq!((column.at(0), column.at(1), column.at(5)), (StrId(1 << 20), StrId(7), StrId(2)));
        column.map(|id| StrId(id.0 % 7));
        assert!(column.iter().eq([1 << 20, 7, 65_535, 65_536, 3, 2].map(|id: u32| StrId(id % 7))));
    }
}
