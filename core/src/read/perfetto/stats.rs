//! Reads how much the recorder itself lost.

use crate::perfetto::stats;
use crate::read::wire::{WireFields, WireValue, all_bytes_in};

/// Losses that `TraceStats` counts: packets, or chunks of them.
pub(super) fn num_lost(message: &[u8]) -> u64 {
    let of_buffers = all_bytes_in(message, stats::BUFFER).map(|buffer| sum(buffer, &stats::LOST_OF_BUFFER));
    of_buffers.fold(sum(message, &stats::LOST), u64::saturating_add)
}

fn sum(message: &[u8], lost: &[u32]) -> u64 {
    let mut sum = 0_u64;
    WireFields::new(message).each(|field, value| match value {
        WireValue::Number(number) if lost.contains(&field) => sum = sum.saturating_add(number),
        _ => {}
    });
    sum
}

#[cfg(test)]
mod tests {
    use super::num_lost;

    #[test]
    fn losses_of_all_buffers_count() {
        // Two buffers: 55 packets, and 9 chunks of 300 written; 2 invalid packets.
        let message = b"\x0a\x03\x98\x01\x37\x0a\x06\x10\xac\x02\x90\x01\x09\x50\x02";
        assert_eq!(num_lost(message), 66);
        assert_eq!(num_lost(b"\x0a\x03\x10\xac\x02"), 0);
    }
}
