//! Writes numbers in as few bytes as they need.

/// Appends a number: seven bits a byte, the lowest first; the highest bit says that another byte
/// follows.
#[inline]
pub(crate) fn push(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
