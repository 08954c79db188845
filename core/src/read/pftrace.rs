//! Recognises a trace of Perfetto by its first bytes.

use super::wire::{WireFields, varint};
use crate::perfetto::{LAST_FIELD, PACKET_TAG};

/// Whether a file with these first bytes is a trace of Perfetto: it has packets alone (field 1),
/// and they start with a field of a number that Perfetto uses.
pub(super) fn is_perfetto(head: &[u8]) -> bool {
    let Some((length, packet)) = head.strip_prefix(&[PACKET_TAG]).and_then(varint) else { return false };
    let mut fields = WireFields::new(packet);
    let first = fields.next().map(|(first, _)| first).or_else(|| fields.cut().map(|(first, _)| first));
    let Some(first) = first else { return false };
    let next = usize::try_from(length).ok().and_then(|length| packet.get(length));
    length > 0 && (1..=LAST_FIELD).contains(&first) && next.is_none_or(|byte| *byte == PACKET_TAG)
}

#[cfg(test)]
mod tests {
    use super::is_perfetto;

    #[test]
    fn packets_tell_a_trace() {
        assert!(is_perfetto(b"\x0a\x04\x40\x01\x50\x01\x0a\x02\x40\x02"));
        // The head ends inside the first packet.
        assert!(is_perfetto(b"\x0a\x20\x62\x1e\x0a\x02"));
        for other in [&b"\x0a"[..], b"\x0a\x02\x40\x01\x77", b"\x0a\x00", b"\x0a{", b""] {
            assert!(!is_perfetto(other), "{other:?}");
        }
    }
}
