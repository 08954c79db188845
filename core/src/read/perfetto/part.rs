//! Parts of a packet by their places, which may be handed over without its bytes.

/// A text or a message inside a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct PacketPart {
    start: u32,
    end: u32,
}

impl PacketPart {
    /// The place of a part in the bytes of its packet.
    #[inline]
    pub(super) fn within(bytes: &[u8], part: &[u8]) -> Self {
        // No packet has 4 GiB.
        let start = part.as_ptr().addr().wrapping_sub(bytes.as_ptr().addr()) as u32;
        Self { start, end: start.wrapping_add(part.len() as u32) }
    }

    /// Its bytes in those of its packet.
    #[inline]
    pub(super) fn of(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_found_again() {
        let bytes = b"packet";
        for (part, found) in [(&bytes[..], &b"packet"[..]), (&bytes[2..4], b"ck"), (&bytes[6..], b"")] {
            assert_eq!(PacketPart::within(bytes, part).of(bytes), found);
        }
        assert_eq!(PacketPart::within(bytes, &bytes[4..]).of(b"pack"), b"");
    }
}
