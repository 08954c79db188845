//! A section of a snapshot: a length and a compressed stream, both unchecked.

use std::borrow::Cow;

use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::decode::fault;
use crate::error::Error;

/// Deflate makes nothing smaller than this.
const MAX_RATIO: u64 = 1032;

/// A section as it is in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct SnapshotSection<'a> {
    /// Length once decompressed, in bytes.
    pub(super) length: u64,
    checksum: u32,
    body: &'a [u8],
}

impl<'a> SnapshotSection<'a> {
    /// Splits the first section from `bytes`; returns it and the rest.
    pub(super) fn split(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), Error> {
        let end = || fault("the end of the file");
        let (length, bytes) = bytes.split_first_chunk().ok_or_else(end)?;
        let (body_length, bytes) = bytes.split_first_chunk().ok_or_else(end)?;
        let (checksum, bytes) = bytes.split_first_chunk().ok_or_else(end)?;
        let body_length = usize::try_from(u64::from_le_bytes(*body_length)).map_err(|_| end())?;
        let (body, bytes) = bytes.split_at_checked(body_length).ok_or_else(end)?;
        let length = u64::from_le_bytes(*length);
        if length > (body.len() as u64).saturating_mul(MAX_RATIO) {
            return Err(fault("a section shorter than its stated length"));
        }
        Ok((Self { length, checksum: u32::from_le_bytes(*checksum), body }, bytes))
    }

    /// The bytes, decompressed.
    pub(super) fn text(self) -> Result<Cow<'a, [u8]>, Error> {
        let is_plain = self.length == self.body.len() as u64;
        let text = if is_plain { Cow::Borrowed(self.body) } else { Cow::Owned(self.inflated()?) };
        let mut checksum = Crc::new();
        checksum.update(&text);
        if checksum.sum() != self.checksum {
            return Err(fault("a wrong checksum"));
        }
        Ok(text)
    }

    /// The bytes, in one piece of memory from the start: they are a snapshot's largest.
    fn inflated(self) -> Result<Vec<u8>, Error> {
        let mut text = Vec::new();
        // The length may be a lie, and memory is asked for before that is known.
        let length = usize::try_from(self.length).ok().filter(|length| text.try_reserve_exact(*length).is_ok());
        length.ok_or_else(|| fault("a section larger than the free memory"))?;
        let status = Decompress::new(false).decompress_vec(self.body, &mut text, FlushDecompress::Finish);
        let status = status.map_err(|error| fault(&format!("damaged compression ({error})")))?;
        if status != Status::StreamEnd || text.len() as u64 != self.length {
            return Err(fault("damaged compression (wrong length)"));
        }
        Ok(text)
    }
}
