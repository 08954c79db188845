//! Limits the text of all members of an archive together.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, ErrorKind, Position};

/// The limit, and the bytes of text that were read so far.
#[derive(Debug)]
pub(super) struct TextBudget {
    limit: u64,
    used: AtomicU64,
}

impl TextBudget {
    pub(super) fn new(limit: u64) -> Self {
        Self { limit, used: AtomicU64::new(0) }
    }

    fn error(&self, place: &str) -> Error {
        let unit = "bytes of text in the members of an archive (raise max_bytes to allow more)";
        let position = Position { file: Some(place.into()), ..Position::default() };
        ErrorKind::Limit { unit, limit: self.limit, position }.into()
    }

    /// Counts bytes; false where they exceed the limit.
    fn take(&self, num_new: u64) -> bool {
        self.used.fetch_add(num_new, Ordering::Relaxed).saturating_add(num_new) <= self.limit
    }
}

/// The text of a member, counted once however often it is read.
pub(super) struct CountedText<R> {
    text: R,
    position: u64,
    /// Bytes of this member that are counted already.
    counted: Arc<AtomicU64>,
    budget: Arc<TextBudget>,
    /// The member, for messages.
    label: String,
}

impl<R> CountedText<R> {
    pub(super) fn new(text: R, counted: &Arc<AtomicU64>, budget: &Arc<TextBudget>, label: &str) -> Self {
        let (counted, budget) = (Arc::clone(counted), Arc::clone(budget));
        Self { text, position: 0, counted, budget, label: label.to_owned() }
    }
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
