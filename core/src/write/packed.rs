//! Packs columns of integers in few bytes.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// Numbers one after another, seven bits a byte, the lowest first; every byte of a number but its
/// last has its highest bit set. They are decoded in a loop of their own, which takes a fraction of
/// the time that a call for each would.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct PackedNumbers<'a>(#[serde(borrow)] Cow<'a, [u8]>);

impl<'a> PackedNumbers<'a> {
    /// Numbers that are not below zero.
    pub(crate) fn of(numbers: impl Iterator<Item = u64>) -> Self {
        let mut bytes = Vec::new();
        for number in numbers {
            let mut rest = number;
            while rest >= 0x80 {
                bytes.push(rest as u8 | 0x80);
                rest >>= 7;
            }
            bytes.push(rest as u8);
        }
        Self(Cow::Owned(bytes))
    }

    /// Numbers of either sign, those near zero in one byte.
    pub(crate) fn signed(numbers: impl Iterator<Item = i64>) -> Self {
        Self::of(numbers.map(|number| (number << 1 ^ number >> 63) as u64))
    }

    /// Maps each number; `None` when one is cut, too long, or rejected.
    pub(crate) fn unpacked<T>(&self, make: impl Fn(u64) -> Option<T>) -> Option<Vec<T>> {
        let mut numbers = self.numbers();
        // As many as there are last bytes, so no more memory than the bytes call for.
        let mut out = Vec::with_capacity(self.0.iter().filter(|byte| **byte < 0x80).count());
        while !numbers.is_empty() {
            match numbers.take_short() {
                Some(short) => {
                    for number in short {
                        out.push(make(u64::from(*number))?);
                    }
                }
                None => out.push(make(numbers.take()?)?),
            }
        }
        Some(out)
    }

    /// The numbers, to be taken one by one.
    pub(crate) fn numbers(&self) -> PackedReader<'_> {
        PackedReader(&self.0)
    }

    /// The same, of bytes that are borrowed and outlive this.
    pub(crate) fn into_numbers(self) -> Option<PackedReader<'a>> {
        match self.0 {
            Cow::Borrowed(bytes) => Some(PackedReader(bytes)),
            Cow::Owned(_) => None,
        }
    }
}

/// Numbers still to be taken.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PackedReader<'a>(&'a [u8]);

/// The highest bit of each of eight bytes.
const HIGHEST_BITS: u64 = 0x8080_8080_8080_8080;

impl<'a> PackedReader<'a> {
    /// The next eight numbers, when each is a byte of its own: most columns hold little else.
    #[inline]
    fn take_short(&mut self) -> Option<&'a [u8; 8]> {
        let (short, rest) = self.0.split_first_chunk()?;
        let is_short = u64::from_le_bytes(*short) & HIGHEST_BITS == 0;
        is_short.then(|| {
            self.0 = rest;
            short
        })
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The next number; `None` at the end, and for one that is cut or too long.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first()?;
        if *first < 0x80 {
            self.0 = rest;
            return Some(u64::from(*first));
        }
        if let Some(word) = self.0.first_chunk() {
            let word = u64::from_le_bytes(*word);
            let lasts = !word & HIGHEST_BITS;
            if lasts != 0 {
                let num_bits = lasts.trailing_zeros() + 1;
                self.0 = &self.0[num_bits as usize / 8..];
                return Some(without_highest_bits(word & u64::MAX >> (64 - num_bits)));
            }
        }
        self.take_slowly()
    }

    /// The same byte by byte: for long numbers, and near the end.
    #[cold]
    fn take_slowly(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first()?;
        let mut number = u64::from(first & 0x7f);
        if *first < 0x80 {
            self.0 = rest;
            return Some(number);
        }
        for (at, byte) in rest.iter().enumerate().take(9) {
            number |= u64::from(byte & 0x7f) << (7 * (at + 1));
            if *byte < 0x80 {
                self.0 = &rest[at + 1..];
                return Some(number);
            }
        }
        None
    }

    /// The same of numbers of either sign.
    #[inline]
    pub(crate) fn take_signed(&mut self) -> Option<i64> {
        self.take().map(signed)
    }
}

/// The lower seven bits of each of eight bytes, one after another; in steps that are the same for
/// each number.
fn without_highest_bits(word: u64) -> u64 {
    let pairs = (word & 0x007f_007f_007f_007f) | (word & 0x7f00_7f00_7f00_7f00) >> 1;
    let fours = (pairs & 0x0000_3fff_0000_3fff) | (pairs & 0x3fff_0000_3fff_0000) >> 2;
    (fours & 0x0000_0000_0fff_ffff) | (fours & 0x0fff_ffff_0000_0000) >> 4
}

/// A number of either sign.
pub(crate) fn signed(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let numbers = [0, 1, -1, 63, -64, 64, 300, i64::MIN, i64::MAX];
        assert_eq!(
            PackedNumbers::signed(numbers.into_iter()).unpacked(|number| Some(signed(number))).unwrap(),
            numbers
        );
        let edges = (0..64).flat_map(|bit| [(1 << bit) - 1, 1 << bit, u64::MAX >> bit]);
        let numbers: Vec<u64> = [0, 1, 2, 3, 4, 5, 6, 7, 8].into_iter().chain(edges).collect();
        assert_eq!(PackedNumbers::of(numbers.iter().copied()).unpacked(Some).unwrap(), numbers);
    }

    #[test]
    fn what_is_cut_or_too_long_is_none() {
        for bytes in [&[0x80][..], &[0, 0xff], &[0xff; 11]] {
            assert_eq!(PackedNumbers(bytes.into()).unpacked(Some), None);
        }
    }
}
