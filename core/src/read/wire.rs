//! Splits messages of protobuf into their fields.

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WireValue<'a> {
    /// A number of variable length, or the bits of one of four or eight bytes.
    Number(u64),
    /// A text, a message, or several numbers.
    Bytes(&'a [u8]),
}

impl<'a> WireValue<'a> {
    pub(super) fn number(self) -> Option<u64> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }

    pub(super) fn bytes(self) -> Option<&'a [u8]> {
        if let Self::Bytes(bytes) = self { Some(bytes) } else { None }
    }
}

/// The fields of a message, with their numbers, up to the first that is damaged.
#[derive(Debug, Clone)]
pub(super) struct WireFields<'a> {
    rest: &'a [u8],
    pub(super) is_damaged: bool,
}

impl<'a> WireFields<'a> {
    pub(super) fn new(message: &'a [u8]) -> Self {
        Self { rest: message, is_damaged: false }
    }

    /// The bytes that are not split yet.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Gives each field to `take`. Faster than the iterator, for messages that a file has millions
    /// of.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    #[expect(clippy::inline_always, reason = "a call takes longer than to split a field, but pages shall be small")]
    pub(super) fn each(&mut self, mut take: impl FnMut(u32, WireValue<'a>)) {
        while !self.rest.is_empty() {
            let Some((field, value)) = self.field() else {
                self.is_damaged = true;
                return;
            };
            take(field, value);
        }
    }

    /// The field that the message ends in: its number, and its bytes up to there.
    pub(super) fn cut(&self) -> Option<(u32, &'a [u8])> {
        let (tag, rest) = varint(self.rest)?;
        let (length, rest) = varint(rest)?;
        let is_cut = tag & 7 == 2 && length > rest.len() as u64;
        is_cut.then_some((u32::try_from(tag >> 3).ok()?, rest))
    }

    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    #[expect(clippy::inline_always, reason = "as above")]
    fn field(&mut self) -> Option<(u32, WireValue<'a>)> {
        let (tag, rest) = varint(self.rest)?;
        let field = u32::try_from(tag >> 3).ok()?;
        let (value, rest) = match tag & 7 {
            0 => varint(rest).map(|(number, rest)| (WireValue::Number(number), rest))?,
            1 => rest.split_first_chunk().map(|(bits, rest)| (WireValue::Number(u64::from_le_bytes(*bits)), rest))?,
            2 => {
                let (length, rest) = varint(rest)?;
                let (bytes, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
                (WireValue::Bytes(bytes), rest)
            }
            5 => {
                let (bits, rest) = rest.split_first_chunk()?;
                (WireValue::Number(u64::from(u32::from_le_bytes(*bits))), rest)
            }
            _ => return None,
        };
        self.rest = rest;
        Some((field, value))
    }
}

impl<'a> Iterator for WireFields<'a> {
    type Item = (u32, WireValue<'a>);

    #[cfg_attr(target_family = "wasm", inline(never))]
    #[cfg_attr(not(target_family = "wasm"), inline)]
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() || self.is_damaged {
            return None;
        }
        let field = self.field();
        self.is_damaged = field.is_none();
        field
    }
}

/// A number of variable length, and the bytes behind it.
#[inline(always)]
#[expect(clippy::inline_always, reason = "most numbers are one byte, and all reading goes through here")]
pub(super) fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    match bytes {
        [byte @ 0..=0x7f, rest @ ..] => Some((u64::from(*byte), rest)),
        [low, high @ 0..=0x7f, rest @ ..] => Some((u64::from(*low & 0x7f) | u64::from(*high) << 7, rest)),
        _ => long_varint(bytes),
    }
}

fn long_varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    for (at, byte) in bytes.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7f).checked_shl(7 * at as u32)?;
        if byte & 0x80 == 0 {
            return Some((value, &bytes[at + 1..]));
        }
    }
    None
}

/// The first number in a field.
pub(super) fn number_in(message: &[u8], field: u32) -> Option<u64> {
    values_in(message, field).next()?.number()
}

/// The first text or message in a field.
pub(super) fn bytes_in(message: &[u8], field: u32) -> Option<&[u8]> {
    values_in(message, field).next()?.bytes()
}

/// All values of a repeated field.
pub(super) fn values_in(message: &[u8], field: u32) -> impl Iterator<Item = WireValue<'_>> + Clone {
    WireFields::new(message).filter(move |(number, _)| *number == field).map(|(_, value)| value)
}

/// All texts or messages of a repeated field.
pub(super) fn all_bytes_in(message: &[u8], field: u32) -> impl Iterator<Item = &[u8]> + Clone {
    values_in(message, field).filter_map(WireValue::bytes)
}

/// The numbers of a repeated field, each alone or all in one text.
pub(super) fn numbers_of(value: WireValue<'_>, is_fixed: bool, mut take: impl FnMut(u64)) {
    match value {
        WireValue::Number(number) => take(number),
        WireValue::Bytes(bytes) if is_fixed => {
            bytes.as_chunks::<8>().0.iter().for_each(|bits| take(u64::from_le_bytes(*bits)));
        }
        WireValue::Bytes(mut bytes) => {
            while let Some((number, rest)) = varint(bytes) {
                take(number);
                bytes = rest;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_all_types_are_split() {
        let message = b"\x08\x96\x01\x12\x02ab\x19\x01\0\0\0\0\0\0\0\x25\x02\0\0\0";
        let mut fields = WireFields::new(message);
        let found: Vec<_> = fields.by_ref().collect();
        let number = WireValue::Number;
        assert_eq!(found, [(1, number(150)), (2, WireValue::Bytes(b"ab")), (3, number(1)), (4, number(2))]);
        assert!(!fields.is_damaged);
        assert_eq!((number_in(message, 3), bytes_in(message, 2)), (Some(1), Some(&b"ab"[..])));
    }

    #[test]
    fn damage_ends_a_message() {
        for message in
            [&b"\x08"[..], b"\x12\x03ab", b"\x19\x01", b"\x0b", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"]
        {
            let mut fields = WireFields::new(message);
            assert_eq!(fields.by_ref().count(), 0, "{message:?}");
            assert!(fields.is_damaged, "{message:?}");
        }
    }
}
