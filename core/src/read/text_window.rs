//! A sliding window over a text, so that files larger than memory can be read.

use std::borrow::Cow;
use std::io::Read;

use super::input::Limits;
use crate::error::{Error, ErrorKind, Position, unreadable};

/// An element or a header's value longer than this is refused: it would have to be in memory as a
/// whole.
const MAX_PIECE: usize = 1 << 29;

/// Bytes read at a time.
const CHUNK: usize = 1 << 18;

/// A window that slides over a text, given whole or as a stream.
pub(super) struct TextWindow<'a> {
    bytes: Cow<'a, [u8]>,
    /// First byte that is not consumed.
    start: usize,
    /// Offset of `bytes` in the text.
    base: u64,
    source: Option<Box<dyn Read + Send + 'a>>,
    limits: Limits,
    /// Whether the stream ended early or failed its check.
    pub(super) is_damaged: bool,
}

impl<'a> TextWindow<'a> {
    /// A window over a text that is in memory.
    pub(super) fn over(bytes: Cow<'a, [u8]>, limits: Limits) -> Result<Self, Error> {
        let window = Self { bytes, start: 0, base: 0, source: None, limits, is_damaged: false };
        window.check_limit()?;
        Ok(window)
    }

    /// A window over a stream.
    pub(super) fn on(source: Box<dyn Read + Send + 'a>, limits: Limits) -> Self {
        let bytes = Cow::Owned(Vec::new());
        Self { bytes, start: 0, base: 0, source: Some(source), limits, is_damaged: false }
    }

    /// Where more of the text would come from, taken away; `None` when there is no more.
    pub(super) fn take_source(&mut self) -> Option<Box<dyn Read + Send + 'a>> {
        self.source.take()
    }

    /// Says where more of the text comes from.
    pub(super) fn put_source(&mut self, source: Box<dyn Read + Send + 'a>) {
        self.source = Some(source);
    }

    /// The unconsumed bytes.
    pub(super) fn text(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// Offset of [`text`](Self::text) in the whole.
    pub(super) fn offset(&self) -> u64 {
        self.base + self.start as u64
    }

    /// Gives up the first `count` bytes.
    pub(super) fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.bytes.len());
    }

    /// Whether the unconsumed bytes are the last.
    pub(super) fn is_last(&self) -> bool {
        self.source.is_none()
    }

    /// Brings all of the text.
    pub(super) fn gather(&mut self) -> Result<(), Error> {
        while self.bring()? {}
        Ok(())
    }

    /// Gives up the blanks at the start, which mean nothing there, and brings more of the text.
    pub(super) fn fill_past_blanks(&mut self) -> Result<bool, Error> {
        let num_blanks = self.text().len() - self.text().trim_ascii_start().len();
        self.consume(num_blanks);
        self.fill()
    }

    /// Reads more of the text; false at its end. Unconsumed bytes stay.
    pub(super) fn fill(&mut self) -> Result<bool, Error> {
        if self.text().len() > MAX_PIECE && !self.is_last() {
            return Err(ErrorKind::Limit {
                unit: "bytes in one element",
                limit: MAX_PIECE as u64,
                position: Position::default(),
            }
            .into());
        }
        self.bring()
    }

    fn bring(&mut self) -> Result<bool, Error> {
        let Some(source) = &mut self.source else { return Ok(false) };
        let bytes = self.bytes.to_mut();
        bytes.drain(..self.start);
        self.base += self.start as u64;
        self.start = 0;
        let kept = bytes.len();
        // A value longer than the window doubles it, so that its start is not read over and over.
        let wanted = CHUNK.max(kept) as u64;
        let outcome = source.by_ref().take(wanted).read_to_end(bytes);
        let num_new = (bytes.len() - kept) as u64;
        match outcome {
            Ok(_) if num_new < wanted => self.source = None,
            Ok(_) => {}
            Err(error) if is_damage(&error) => {
                self.is_damaged = true;
                self.source = None;
            }
            Err(error) => return Err(unreadable(error)),
        }
        self.check_limit()?;
        Ok(num_new > 0)
    }

    fn check_limit(&self) -> Result<(), Error> {
        let limit = self.limits.max_bytes;
        if self.base + self.bytes.len() as u64 > limit {
            let unit = "bytes of decompressed text (raise max_bytes to allow more)";
            return Err(ErrorKind::Limit { unit, limit, position: Position::default() }.into());
        }
        Ok(())
    }
}

/// Whether a decompressor says that its stream is bad, rather than the system that a file cannot be
/// read.
fn is_damage(error: &std::io::Error) -> bool {
    error.raw_os_error().is_none() && !error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<Error>)
}
