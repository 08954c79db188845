//! Limits the text of all members of an archive together.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, ErrorKind};

/// The limit, and the bytes of text that were read so far.
#[derive(Debug)]
pub(super) struct TextBudget {
    pub(super) limit: u64,
    used: AtomicU64,
}

impl TextBudget {
    pub(super) fn new(limit: u64) -> Self {
        Self { limit, used: AtomicU64::new(0) }
    }

    pub(super) fn error(&self, place: &str) -> Error {
        let unit = "bytes of text in the members of an archive (raise max_bytes to allow more)";
        ErrorKind::Limit { unit, limit: self.limit, place: Some(place.into()) }.into()
    }

    /// Counts bytes; false where they exceed the limit.
    fn take(&self, num_new: u64) -> bool {
        self.used.fetch_add(num_new, Ordering::Relaxed).saturating_add(num_new) <= self.limit
    }
}

/// The text of a member, counted once however often it is read.
pub(super) struct CountedText<R> {
    pub(super) text: R,
    pub(super) position: u64,
    /// Bytes of this member that are counted already.
    pub(super) counted: Arc<AtomicU64>,
    pub(super) budget: Arc<TextBudget>,
    /// The member, for messages.
    pub(super) label: String,
}

impl<R: Read> Read for CountedText<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let num_read = self.text.read(buffer)?;
        self.position += num_read as u64;
        let before = self.counted.fetch_max(self.position, Ordering::Relaxed);
        if self.budget.take(self.position.saturating_sub(before)) {
            return Ok(num_read);
        }
        Err(io::Error::other(self.budget.error(&self.label)))
    }
}
