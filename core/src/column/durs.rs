//! A column of durations.

use rustc_hash::FxHashMap;

use super::chunked::{CHUNK, Chunked};
use crate::time::Dur;

/// Durations, four bytes each where they are shorter than 4.3 seconds.
#[derive(Debug, Clone, Default)]
pub struct Durs {
    short: Chunked<u32>,
    /// The others, by row.
    long: FxHashMap<u32, Dur>,
}

/// Marks a duration that is among the others.
const LONG: u32 = u32::MAX;

impl Durs {
    /// A column of these durations.
    pub(crate) fn of(durs: &[Dur]) -> Self {
        let mut long = FxHashMap::default();
        let mut row = 0;
        let mut shorten = |dur: &Dur| {
            let short = short(*dur);
            if short == LONG {
                long.insert(row, *dur);
            }
            row += 1;
            short
        };
        let short = Chunked::of(durs.chunks(CHUNK).map(|chunk| chunk.iter().map(&mut shorten).collect()));
        Self { short, long }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.short.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.short.is_empty()
    }

    /// The duration of a row.
    #[inline]
    pub fn at(&self, row: usize) -> Dur {
        self.lengthen(row, *self.short.value(row))
    }

    /// The duration of these four bytes.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one call for each row, not several, in code that is compiled for size")]
    fn lengthen(&self, row: usize, short: u32) -> Dur {
        if short == LONG { self.long(row) } else { Dur(i64::from(short)) }
    }

    #[cold]
    fn long(&self, row: usize) -> Dur {
        self.long.get(&(row as u32)).copied().unwrap_or_default()
    }

    /// Sets the duration of a row.
    #[inline]
    pub fn set(&mut self, row: usize, dur: Dur) {
        let short = short(dur);
        self.short[row] = short;
        if short == LONG {
            self.long.insert(row as u32, dur);
        }
    }

    /// Adds a row.
    #[inline]
    pub fn push(&mut self, dur: Dur) {
        let short = short(dur);
        if short == LONG {
            self.long.insert(self.len() as u32, dur);
        }
        self.short.push(short);
    }

    /// All durations.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Dur> + DoubleEndedIterator + '_ {
        self.short.iter().enumerate().map(|(row, short)| self.lengthen(row, *short))
    }
}

/// The four bytes of a duration.
#[inline]
fn short(dur: Dur) -> u32 {
    u32::try_from(dur.0).unwrap_or(LONG)
}

impl FromIterator<Dur> for Durs {
    fn from_iter<I: IntoIterator<Item = Dur>>(durs: I) -> Self {
        let mut column = Self::default();
        durs.into_iter().for_each(|dur| column.push(dur));
        column
    }
}

impl PartialEq for Durs {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Durs {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_of_any_length_come_back() {
        let lengths = [0, 1, 4_294_967_294, 4_294_967_295, i64::MAX, -1].map(Dur);
        let mut column: Durs = lengths.into_iter().collect();
        assert_eq!(column.iter().collect::<Vec<_>>(), lengths);
        assert_eq!(Durs::of(&lengths), column);
        column.set(4, Dur(3));
        column.set(0, Dur(1 << 40));
        assert_eq!((column.at(0), column.at(4)), (Dur(1 << 40), Dur(3)));
    }
}
