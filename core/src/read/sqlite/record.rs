//! Decodes the values of a row.

use super::page::varint;

/// A value; its type need not be that of its column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::read) enum SqlContent<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'a [u8]),
    Blob(&'a [u8]),
}

/// A row: its number, and its values as stored.
#[derive(Debug, Default)]
pub(in crate::read) struct SqlRecord {
    pub(in crate::read) row: i64,
    pub(super) bytes: Vec<u8>,
    /// Type and place of each value.
    pub(super) values: Vec<(u64, usize)>,
}

impl SqlRecord {
    /// Finds the values in the bytes; `None` if those are no row.
    pub(super) fn index(&mut self) -> Option<()> {
        self.values.clear();
        let (header, mut at) = varint(&self.bytes, 0)?;
        let header = usize::try_from(header).ok().filter(|end| *end <= self.bytes.len())?;
        let mut place = header;
        while at < header {
            let (code, next) = varint(&self.bytes[..header], at)?;
            let code = u64::try_from(code).ok()?;
            self.values.push((code, place));
            place = place.checked_add(num_bytes(code))?;
            at = next;
        }
        (place <= self.bytes.len()).then_some(())
    }

    /// A stored value; null where the row has none, as rows have that are older than the column.
    pub(super) fn stored(&self, at: usize) -> SqlContent<'_> {
        let Some(&(code, place)) = self.values.get(at) else { return SqlContent::Null };
        let bytes = &self.bytes[place..place + num_bytes(code)];
        match code {
            1..=6 => SqlContent::Integer(integer(bytes)),
            7 => SqlContent::Real(f64::from_bits(integer(bytes) as u64)),
            8 | 9 => SqlContent::Integer(code as i64 - 8),
            12.. if code % 2 == 0 => SqlContent::Blob(bytes),
            13.. => SqlContent::Text(bytes),
            _ => SqlContent::Null,
        }
    }
}

fn num_bytes(code: u64) -> usize {
    match code {
        1..=4 => code as usize,
        5 => 6,
        6 | 7 => 8,
        12.. => usize::try_from((code - 12) / 2).unwrap_or(usize::MAX),
        _ => 0,
    }
}

/// An integer of up to eight bytes with a sign.
fn integer(bytes: &[u8]) -> i64 {
    let sign = if bytes.first().is_some_and(|byte| *byte >= 0x80) { -1 } else { 0 };
    bytes.iter().fold(sign, |value, byte| value << 8 | i64::from(*byte))
}
