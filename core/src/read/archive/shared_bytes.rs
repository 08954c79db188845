//! Bytes on disk or in memory, read by any thread from any place.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

/// Bytes that any thread can read from any place.
pub trait ReadAt: Send + Sync {
    /// Number of bytes.
    ///
    /// # Errors
    /// When the system does not tell.
    fn num_bytes(&self) -> io::Result<u64>;

    /// Reads bytes at an offset. Returns their number; 0 at the end.
    ///
    /// # Errors
    /// When the system cannot read.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
}

/// Bytes in memory, such as those of a vector.
impl<B: AsRef<[u8]> + Send + Sync> ReadAt for B {
    fn num_bytes(&self) -> io::Result<u64> {
        Ok(self.as_ref().len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        self.as_ref().get(start..).unwrap_or_default().read(buffer)
    }
}

/// Bytes that several readers share.
#[derive(Clone)]
pub(super) struct SharedBytes(pub(super) Arc<dyn ReadAt>);

impl SharedBytes {
    pub(super) fn of_vec(bytes: Vec<u8>) -> Self {
        Self(Arc::new(bytes))
    }

    pub(super) fn len(&self) -> io::Result<u64> {
        self.0.num_bytes()
    }

    /// A reader of a part; of less where the bytes end before.
    pub(super) fn span(&self, start: u64, len: u64) -> Span {
        Span { bytes: self.clone(), start, len, position: 0 }
    }
}

impl fmt::Debug for SharedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedBytes")
    }
}

/// A reader of a part of shared bytes, with a position of its own.
#[derive(Debug, Clone)]
pub(super) struct Span {
    bytes: SharedBytes,
    start: u64,
    len: u64,
    position: u64,
}

impl Span {
    pub(super) fn len(&self) -> u64 {
        self.len
    }
}

impl Read for Span {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = self.len.saturating_sub(self.position);
        let wanted = usize::try_from(rest).unwrap_or(usize::MAX).min(buffer.len());
        let num_read = self.bytes.0.read_at(&mut buffer[..wanted], self.start.saturating_add(self.position))?;
        self.position += num_read as u64;
        Ok(num_read)
    }
}

impl Seek for Span {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(offset) => self.len.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}
