//! Splits a file into its packets, and unpacks those that are compressed.

use std::io::Read as _;

use flate2::read::ZlibDecoder;

use crate::error::Error;
use crate::perfetto::PACKET_TAG;
use crate::read::text_window::TextWindow;
use crate::read::wire::varint;

/// Compressed packets that unpack to more than this are left out.
const MAX_UNPACKED: u64 = 1 << 28;

/// The packets of a file, one after the other.
pub(super) struct PerfettoPackets<'a> {
    window: TextWindow<'a>,
    /// Bytes of the window that were given out.
    given: usize,
    /// Packets that were compressed, and where the next one starts.
    unpacked: Vec<u8>,
    next_unpacked: usize,
    /// Bytes that all compressed packets together may still unpack to.
    left: u64,
    /// Whether the file ends inside a packet, or goes on with something else.
    pub(super) is_cut: bool,
}

impl<'a> PerfettoPackets<'a> {
    pub(super) fn new(window: TextWindow<'a>, max_bytes: u64) -> Self {
        Self { window, given: 0, unpacked: Vec::new(), next_unpacked: 0, left: max_bytes, is_cut: false }
    }

    /// Whether the compressed stream around the file is damaged.
    pub(super) fn is_damaged(&self) -> bool {
        self.window.is_damaged
    }

    /// Bytes of the file before the next packet.
    pub(super) fn offset(&self) -> u64 {
        self.window.offset() + self.given as u64
    }

    /// The next packet; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, Error> {
        if self.next_unpacked < self.unpacked.len() {
            let rest = &self.unpacked[self.next_unpacked..];
            if let Some((start, length)) = packet_at(rest).filter(|(start, length)| start + length <= rest.len()) {
                let start = self.next_unpacked + start;
                self.next_unpacked = start + length;
                return Ok(Some(&self.unpacked[start..start + length]));
            }
            self.is_cut = true;
            self.next_unpacked = self.unpacked.len();
        }
        self.window.consume(std::mem::take(&mut self.given));
        loop {
            let text = self.window.text();
            match packet_at(text) {
                Some((start, length)) if start + length <= text.len() => {
                    self.given = start + length;
                    return Ok(Some(&self.window.text()[start..start + length]));
                }
                _ if self.window.fill()? => {}
                _ => {
                    self.is_cut |= !self.window.text().is_empty();
                    return Ok(None);
                }
            }
        }
    }

    /// Lets the packets in a compressed stream come next; false if it is damaged or too long.
    pub(super) fn unpack(&mut self, compressed: &[u8]) -> bool {
        self.unpacked.clear();
        self.next_unpacked = 0;
        let limit = self.left.min(MAX_UNPACKED);
        let read = ZlibDecoder::new(compressed).take(limit + 1).read_to_end(&mut self.unpacked);
        let is_whole = read.is_ok() && self.unpacked.len() as u64 <= limit;
        self.left -= limit.min(self.unpacked.len() as u64);
        if !is_whole {
            self.unpacked.clear();
        }
        is_whole
    }
}

/// Where the packet at the start of these bytes starts and how long it is.
fn packet_at(bytes: &[u8]) -> Option<(usize, usize)> {
    let (length, rest) = varint(bytes.strip_prefix(&[PACKET_TAG])?)?;
    // A length that no memory holds is never reached.
    Some((bytes.len() - rest.len(), usize::try_from(length).unwrap_or(usize::MAX / 2)))
}
